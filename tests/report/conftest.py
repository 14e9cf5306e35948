"""A headless Chromium, driven by its own protocol."""

import base64
import json
import os
import re
import shutil
import subprocess

import pytest
from websockets.sync.client import connect

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


class Page:
    """One page, and everything it complained about or asked for."""

    def __init__(self, socket):
        self.socket, self.number, self.events = socket, 0, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = None
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if getattr(self, "session", None):
            message["sessionId"] = self.session
        self.socket.send(json.dumps(message))
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]

    def receive(self):
        answer = json.loads(self.socket.recv(timeout=30))
        if "method" in answer:
            self.events.append(answer)
        return answer

    def of(self, method):
        return [event["params"] for event in self.events if event["method"] == method]

    def open(self, path, width, height=900, mobile=False):
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=mobile,
        )
        before = len(self.of("Page.loadEventFired"))
        self.call("Page.navigate", url=path.as_uri())
        while len(self.of("Page.loadEventFired")) == before:
            self.receive()

    def run(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def point(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key)

    def picture(self, path, **options):
        data = self.call("Page.captureScreenshot", format="png", **options)["data"]
        path.write_bytes(base64.b64decode(data))

    def complaints(self):
        logged = [entry["entry"]["text"] for entry in self.of("Log.entryAdded")]
        called = [call["args"] for call in self.of("Runtime.consoleAPICalled")]
        thrown = [what["exceptionDetails"]["text"] for what in self.of("Runtime.exceptionThrown")]
        return [*logged, *called, *thrown]

    def requests(self):
        return [request["request"]["url"] for request in self.of("Network.requestWillBeSent")]


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed (Debian's package chromium)")
    command = [
        CHROMIUM,
        "--headless=new",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--hide-scrollbars",
        "--no-first-run",
        "--disable-background-networking",
        "--remote-debugging-port=0",
        f"--user-data-dir={tmp_path_factory.mktemp('chromium')}",
    ]
    if os.geteuid() == 0:
        command.append("--no-sandbox")  # which Chromium wants of root
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace"
    )
    try:
        for line in process.stderr:
            address = re.search(r"DevTools listening on (ws://\S+)", line)
            if address:
                break
        else:
            pytest.fail("Chromium did not start")
        with connect(address[1], max_size=2**26) as socket:
            yield socket
    finally:
        process.terminate()
        process.wait(timeout=30)
        process.stderr.close()


@pytest.fixture
def page(chromium):
    return Page(chromium)
