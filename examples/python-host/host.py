"""A host in Python: creates users, signs tokens, posts as a part of itself, acts for a person, and follows all events."""

import json
import os
import time
from urllib.parse import quote
from urllib.request import Request, urlopen

import jwt  # pip install pyjwt

URL, KEY, SECRET = (os.environ[name] for name in ("CHAT_URL", "CHAT_SERVER_KEY", "CHAT_JWT_SECRET"))


def send(method, path, body=None, act_as=None, bearer=KEY):
    headers = {"Authorization": f"Bearer {bearer}", "Content-Type": "application/json"}
    if act_as:
        headers["Chat-Act-As"] = act_as
    return urlopen(Request(URL + path, json.dumps(body).encode() if body is not None else None, headers, method=method))


def call(*args, **options):
    with send(*args, **options) as response:
        return json.load(response)


def token_for(subject, name):
    now = int(time.time())
    claims = {"iss": "https://shop.example.org", "aud": "chat", "sub": subject, "name": name, "iat": now, "exp": now + 3600}
    return jwt.encode(claims, SECRET, algorithm="HS256")


grace = quote("customer/42", safe="")
user = call("PUT", f"/api/admin/users/by-subject/{grace}", {"display_name": "Grace Hopper"})["user"]
assert call("GET", "/api/auth/me", bearer=token_for("customer/42", "Grace Hopper"))["user"]["id"] == user["id"]

events = send("GET", "/api/stream", act_as="system:orders")
room = call("POST", "/api/conversations", {"title": "Order 42", "ref": "order-42", "ensure": True}, "system:orders")
room_id = room["conversation_id"]
if room["created"]:
    call("POST", f"/api/conversations/{room_id}/participants", {"subject": "customer/42"}, "system:orders")
call("POST", f"/api/threads/{room_id}/root", {"content": "Your order has been shipped."}, "system:orders")
call("POST", f"/api/threads/{room_id}/root", {"content": "Thank you!"}, f"subject:{grace}")

for line in events:
    if line.startswith(b"data: "):
        event = json.loads(line[len("data: ") :])
        print(event["type"], flush=True)
        if "Thank you!" in json.dumps(event):
            break
