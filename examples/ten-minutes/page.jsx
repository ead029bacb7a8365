import { createChatClient } from 'chat-server/client'
import { ChatProvider, useConversations, useMessages, useThreads, useTyping } from 'chat-server/react'
import { useState } from 'react'
import { createRoot } from 'react-dom/client'

const client = createChatClient({ base_url: '/chat' })

function Page() {
  const { conversations } = useConversations()
  return conversations.map(({ id, title }) => <Conversation key={id} id={id} title={title} />)
}

function Conversation({ id, title }) {
  const { threads, start } = useThreads(id)
  const { typists, sendTyping } = useTyping(id)
  return (
    <section>
      <h1>{title}</h1>
      {threads.map(({ root_id }) => (
        <Thread key={root_id} id={root_id} onTyping={() => sendTyping(root_id)} />
      ))}
      {typists.length > 0 && <p>{typists.length} typing…</p>}
      <Compose name="start" onSend={start} />
    </section>
  )
}

function Thread({ id, onTyping }) {
  const { messages, reply, retry } = useMessages(id)
  return (
    <article>
      {messages.map(({ id, content, pending }) => (
        <p key={id} className={pending ? 'pending' : 'sent'}>
          {content}{' '}
          {pending?.status === 'failed' && (
            <button type="button" onClick={() => retry(pending.key)}>
              Send again
            </button>
          )}
        </p>
      ))}
      <Compose name="reply" onSend={reply} onTyping={onTyping} />
    </article>
  )
}

function Compose({ name, onSend, onTyping }) {
  const [content, setContent] = useState('')
  function submit(event) {
    event.preventDefault()
    onSend(content)
    setContent('')
  }
  function change({ target }) {
    setContent(target.value)
    onTyping?.()
  }
  return (
    <form className={name} onSubmit={submit}>
      <input value={content} onChange={change} /> <button type="submit">{name}</button>
    </form>
  )
}

createRoot(document.getElementById('root')).render(
  <ChatProvider client={client}>
    <Page />
  </ChatProvider>,
)
