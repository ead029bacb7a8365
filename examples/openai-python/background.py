"""Asks an assistant in the background and leaves; another process reads the answer on, with the SDK of OpenAI.

    pip install openai
    export OPENAI_BASE_URL=http://127.0.0.1:3000/v1 OPENAI_API_KEY=<an API key of the service>
    python background.py ask "Why is the sky blue?"     prints the first words, and what to run next
    python background.py resume <id> <number>           prints the rest, as it is written
"""

import sys
import time

from openai import APIConnectionError, InternalServerError, OpenAI

LAST = ("response.completed", "response.incomplete", "response.failed")
client = OpenAI()


def ask(question):
    with client.responses.create(input=question, background=True, stream=True) as events:
        for event in events:
            if event.type == "response.created":
                answer = event.response.id
            if event.type == "response.output_text.delta":
                print(event.delta)
                print(f"It goes on: python {sys.argv[0]} resume {answer} {event.sequence_number}")
                return


def resume(answer, number):
    while True:
        try:
            with client.responses.retrieve(answer, stream=True, starting_after=int(number)) as events:
                for event in events:
                    number = event.sequence_number
                    if event.type == "response.output_text.delta":
                        print(event.delta, end="", flush=True)
                    if event.type in LAST:
                        print(f"\n{event.response.status}")
                return
        except (APIConnectionError, InternalServerError):
            # The server stops: the next one has all that was written.
            time.sleep(1)


{"ask": ask, "resume": resume}[sys.argv[1]](*sys.argv[2:])
