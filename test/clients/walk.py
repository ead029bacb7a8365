"""The Python client of openapi-generator against a running service, whose URL is the argument: what it prints is compared."""
import sys

import openapi_client as chat

URL = sys.argv[1]
EMAIL, PASSWORD = "ada@example.org", "correct horse battery"


def sign_in() -> chat.ApiClient:
    """A client with an API key, which a session makes. The generated code keeps one cookie of a response only: they are
    read from the response itself, and sent as the whole value of the header."""
    session = chat.ApiClient(chat.Configuration(host=URL))
    credentials = chat.Credentials(email=EMAIL, password=PASSWORD)
    response = chat.AuthenticationApi(session).auth_login_without_preload_content(credentials)
    login = chat.LoginAnswer.from_json(response.data.decode())
    cookies = [cookie.split(";")[0] for cookie in response.headers.getlist("set-cookie")]
    session.configuration.api_key = {"session": "; ".join(cookies), "csrf": login.csrf_token}
    print("signed in:", login.user.username)
    made = chat.AuthenticationApi(session).keys_create(chat.ApiKeyInput(name="walk"))
    return chat.ApiClient(chat.Configuration(host=URL, access_token=made.key))


def events(stream):
    """The events of a response: the lines are read by hand, the events are of the generated types."""
    text = b""
    while more := stream.read1(65536):
        *lines, text = (text + more).split(b"\n")
        for line in lines:
            if line.startswith(b"data: "):
                yield chat.ConversationStreamEvent.from_json(line[len(b"data: "):].decode()).actual_instance


setup = chat.SetupApi(chat.ApiClient(chat.Configuration(host=URL)))
print("set up before:", setup.setup_get().is_setup)
setup.setup_run(chat.SetupInput(email=EMAIL, password=PASSWORD))

client = sign_in()
conversations, messages = chat.ConversationsApi(client), chat.ThreadsAndMessagesApi(client)
conversation_id = str(conversations.conversations_create(chat.ConversationInput(title="Engines")).conversation_id)

stream = chat.StreamApi(client).events_stream_without_preload_content(conversation_id)
arriving = events(stream)
print("stream:", type(next(arriving)).__name__)

posted = messages.messages_post_root(conversation_id, chat.RootInput(content="Does it run?"), idempotency_key="once")
again = messages.messages_post_root(conversation_id, chat.RootInput(content="Does it run?"), idempotency_key="once")
print("posted once:", posted.root_id == again.root_id)
messages.messages_reply(str(posted.message_id), chat.MessageInput(content="It runs."))

followed = []
while len(followed) < 3:
    event = next(arriving)
    if event.type == "presence.update":  # comes some time after the stream has begun
        continue
    followed.append(event.payload.message.content if event.type == "message.new" else event.type)
print("followed:", followed)
stream.close()

tree = messages.threads_tree(str(posted.root_id))
print("tree:", [(message.depth, message.content) for message in tree.messages])
print("listed:", [each.title for each in conversations.conversations_list(limit=10).conversations])

try:
    messages.messages_get("01980a3c-9000-7a10-8b20-0c4f1d2e3a45")
except chat.ApiException as failure:
    print("failure:", failure.status, failure.data.code)
