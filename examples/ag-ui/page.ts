// The chat that the address names, with the agent of AG-UI: a reload reads it, and goes on with what is written there.
import { HttpAgent } from '@ag-ui/client'
import type { Message, RunAgentInput } from '@ag-ui/core'

const url = '/chat/api/ag-ui'

/** The agent, which also knows how a chat is read. */
class ChatAgent extends HttpAgent {
  protected override connect(input: RunAgentInput) {
    const agent = this.clone()
    agent.url = `${this.url}/connect`
    return agent.run(input)
  }
}

const threadId = new URLSearchParams(location.search).get('chat') ?? crypto.randomUUID()
history.replaceState(null, '', `?chat=${threadId}`)
const agent = new ChatAgent({ url, threadId })

const main = document.querySelector('main')!
const form = document.querySelector('form')!

const textOf = ({ role, ...message }: Message) =>
  (role === 'user' || role === 'assistant') && 'content' in message && typeof message.content === 'string'
    ? message.content
    : ''

function paragraph(message: Message): HTMLElement {
  const element = document.createElement('p')
  element.className = message.role
  element.textContent = textOf(message)
  return element
}

function button(text: string, onClick: () => void): HTMLElement {
  const element = document.createElement('button')
  element.textContent = text
  element.onclick = onClick
  return element
}

/** Shows the messages, and what waits for a decision. @param status what the chat does */
function show(status: string, error = ''): void {
  const waits = status === 'ready' && agent.pendingInterrupts.length > 0
  main.dataset.status = waits ? 'waiting' : status
  const messages = agent.messages.filter((message) => textOf(message) !== '').map(paragraph)
  const asked = agent.pendingInterrupts.map(({ message = '' }) => `${message} `)
  const buttons = [button('Approve', () => decide(true)), button('Deny', () => decide(false))]
  main.replaceChildren(...messages, ...(waits ? [...asked, ...buttons] : []), error)
}

/** Runs the agent. A connection that breaks off ends nothing: it reads on. */
async function run(work: () => Promise<unknown>): Promise<void> {
  show('running')
  const failure = await work()
    .catch(() => agent.connectAgent())
    .then(() => '', String)
  show('ready', failure)
}

const ask = (content: string) => {
  agent.addMessage({ id: crypto.randomUUID(), role: 'user', content })
  return run(() => agent.runAgent())
}

/** All calls that wait are decided at once: a run that leaves one open is refused. */
function decide(approved: boolean): Promise<void> {
  const resume = agent.pendingInterrupts.map(({ id }) => {
    return { interruptId: id, status: 'resolved' as const, payload: { approved } }
  })
  return run(() => agent.runAgent({ resume }))
}

agent.subscribe({ onMessagesChanged: () => show(main.dataset.status ?? 'running') })
form.onsubmit = (event) => {
  event.preventDefault()
  const content = String(new FormData(form).get('text'))
  form.reset()
  void ask(content)
}
form.querySelector('[name=stop]')!.addEventListener('click', () => {
  const headers = { 'content-type': 'application/json' }
  // Closing the connection would not stop it.
  void fetch(`${url}/stop`, { method: 'POST', headers, body: JSON.stringify({ threadId }) })
})
form.querySelector('[name=again]')!.addEventListener('click', () => {
  const last = agent.messages.findLastIndex(({ role }) => role === 'user')
  if (last < 0) return
  agent.setMessages(agent.messages.slice(0, last + 1))
  void run(() => agent.runAgent())
})
void run(() => agent.connectAgent())
