/** A page with `useChat`, for a version of the AI SDK that stands in for `ai` and its hook. */

import { Chat, useChat } from 'ai-react6'
import * as sdk from 'ai6'
import { useState } from 'react'
import { createRoot } from 'react-dom/client'
import { uiTransport } from '../../../lib/client/ai/index.ts'
import { createChatClient } from '../../../lib/client/index.ts'

/** What a test passes in the fragment of the address. */
const {
  base_url = '',
  key = '',
  id = '',
  via,
  ui_version,
} = Object.fromEntries(new URLSearchParams(location.hash.slice(1))) as Record<string, string | undefined>
const headers = { authorization: `Bearer ${key}` }

/** The transport, and what its page needs beside it. */
interface Connection {
  transport: sdk.ChatTransport<sdk.UIMessage>
  load(): Promise<sdk.UIMessage[]>
  stop(): Promise<unknown>
}

function connectByOurs(): Connection {
  const client = createChatClient({ base_url, api_key: key })
  const transport = uiTransport(client, ui_version === '5' ? { ui_version } : {})
  return { transport, load: () => transport.load(id).catch(() => []), stop: () => transport.stop(id) }
}

function connectByDefault(): Connection {
  const api = `${base_url}/api/ui/chat`
  return {
    transport: new sdk.DefaultChatTransport({ api, headers }),
    async load() {
      const response = await fetch(`${api}/${id}`, { headers })
      return response.ok ? (await response.json()).messages : []
    },
    stop: () => fetch(`${api}/${id}/stop`, { method: 'POST', headers }),
  }
}

function Page({ connection, loaded }: { connection: Connection; loaded: sdk.UIMessage[] }) {
  const [text, setText] = useState('')
  // Version 5 has none.
  const { lastAssistantMessageIsCompleteWithApprovalResponses: sendAutomaticallyWhen } = sdk as Partial<typeof sdk>
  const options = {
    id,
    transport: connection.transport,
    messages: loaded,
    ...(sendAutomaticallyWhen && { sendAutomaticallyWhen }),
  }
  // Given the transport alone, the hook of 6 does not know that a resumed stream begins with the first row.
  const [resumable] = useState(() => new Chat(options))
  const chat = useChat({ ...(via === 'ours' ? options : { chat: resumable }), resume: true })
  const { messages, status, error } = chat
  return (
    <main data-status={status} title={error?.message}>
      {messages.map((message) => (
        <article key={message.id} data-role={message.role}>
          <p>{message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')}</p>
          {message.parts.map((part, n) => (
            <Part key={`${message.id}-${n}`} part={part} decide={chat.addToolApprovalResponse} />
          ))}
        </article>
      ))}
      <input value={text} onChange={({ target }) => setText(target.value)} />
      <button type="button" id="send" onClick={() => chat.sendMessage({ text })} />
      <button type="button" id="edit" onClick={() => chat.sendMessage({ text, messageId: messages[0]!.id })} />
      <button type="button" id="again" onClick={() => chat.regenerate()} />
      <button type="button" id="stop" onClick={() => connection.stop()} />
      <button type="button" id="resume" onClick={() => chat.resumeStream()} />
    </main>
  )
}

type Decide = (response: { id: string; approved: boolean }) => void

function Part({ part, decide }: { part: sdk.UIMessage['parts'][number]; decide: Decide }) {
  if (part.type === 'data-approval') return <i data-approval={(part.data as { state: string }).state} />
  if (part.type !== 'dynamic-tool') return null
  const approval = part.state === 'approval-requested' ? part.approval : undefined
  return (
    <section data-state={part.state}>
      {approval && <button type="button" onClick={() => decide({ id: approval.id, approved: true })} name="approve" />}
      {approval && <button type="button" onClick={() => decide({ id: approval.id, approved: false })} name="deny" />}
    </section>
  )
}

const connection = via === 'ours' ? connectByOurs() : connectByDefault()
const loaded = await connection.load()
createRoot(document.body).render(<Page connection={connection} loaded={loaded} />)
