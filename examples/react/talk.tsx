/** @jsxRuntime automatic */
import { useAssistantChat } from 'chat-server/react'
import { type FormEvent, useState } from 'react'

/** A talk with an assistant: a question is a message with its answer, and calls of tools wait for the user. */
export function Talk({ id }: { id: string }) {
  const { messages, status, approvals, send, stop, regenerate, decide } = useAssistantChat(id)
  const [question, setQuestion] = useState('')
  function ask(event: FormEvent) {
    event.preventDefault()
    void send(question)
    setQuestion('')
  }
  return (
    <aside className="talk" data-status={status}>
      {messages.map(({ id, prompt, content }) => (
        <p key={id}>
          <strong>{prompt}</strong> <span className="answer">{content}</span>
        </p>
      ))}
      {approvals.map(({ call_id, tool, may_decide }) => (
        <p key={call_id} className="approval">
          {tool.title}?{' '}
          <button type="button" disabled={!may_decide} onClick={() => decide(call_id, { approve: true })}>
            Approve
          </button>{' '}
          <button type="button" disabled={!may_decide} onClick={() => decide(call_id, { approve: false })}>
            Deny
          </button>
        </p>
      ))}
      {status === 'streaming' || status === 'waiting' ? (
        <button type="button" onClick={stop}>
          Stop the answer
        </button>
      ) : (
        <form onSubmit={ask}>
          <input value={question} onChange={({ target }) => setQuestion(target.value)} />
          <button type="submit">Ask the assistant</button>
          <button type="button" disabled={messages.length === 0} onClick={() => regenerate()}>
            Ask again
          </button>
        </form>
      )}
    </aside>
  )
}
