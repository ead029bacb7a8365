// assistant-ui on chat-server: the caller's threads, and one of them. A reload resumes its answer.
import { useChat } from '@ai-sdk/react'
import {
  ActionBarPrimitive,
  AssistantRuntimeProvider,
  AuiIf,
  BranchPickerPrimitive,
  ComposerPrimitive,
  MessagePrimitive,
  ThreadListItemPrimitive,
  ThreadListPrimitive,
  ThreadPrimitive,
} from '@assistant-ui/react'
import { useAISDKRuntime } from '@assistant-ui/react-ai-sdk'
import type { UIMessage } from 'ai'
import { ChatError, createChatClient } from 'chat-server/client'
import { uiTransport } from 'chat-server/client/ai'
import { useMemo, useState } from 'react'
import { createRoot } from 'react-dom/client'

const transport = uiTransport(createChatClient({ base_url: '/chat' }))

/** A thread with its messages, of which a new one has none. */
interface Opened {
  id: string
  messages: UIMessage[]
}

async function open(id: string): Promise<Opened> {
  history.replaceState(null, '', `?chat=${encodeURIComponent(id)}`)
  const messages = await transport.load(id).catch((error) => {
    if (error instanceof ChatError && error.code === 'not_found') return []
    throw error
  })
  return { id, messages }
}

/** The threads as assistant-ui lists them, latest activity first. */
async function list() {
  const { chats } = await transport.list()
  return chats.map(({ id, title }) => ({ id, title, status: 'regular' as const }))
}

type Threads = Awaited<ReturnType<typeof list>>

function Page({ listed, first }: { listed: Threads; first: Opened }) {
  const [threads, setThreads] = useState(listed)
  const [opened, setOpened] = useState(first)
  const refresh = async () => setThreads(await list())
  const show = async (id: string) => setOpened(await open(id))
  return <Thread key={opened.id} {...{ opened, threads, refresh, show }} />
}

interface ThreadProps {
  opened: Opened
  threads: Threads
  refresh(): Promise<void>
  show(id: string): Promise<void>
}

function Thread({ opened: { id, messages }, threads, refresh, show }: ThreadProps) {
  const chat = useChat({ id, transport, messages, resume: true, onFinish: refresh })
  const threadList = useMemo(
    () => ({
      threadId: id,
      threads,
      onSwitchToThread: show,
      onSwitchToNewThread: () => show(crypto.randomUUID()),
    }),
    [id, threads, show],
  )
  // That of the hook only stops reading: the answer would go on.
  const stop = async () => void (await transport.stop(id))
  const runtime = useAISDKRuntime({ ...chat, stop }, { adapters: { threadList } })
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <ThreadListPrimitive.Root>
        <ThreadListPrimitive.New>New thread</ThreadListPrimitive.New>
        <ThreadListPrimitive.Items>
          {() => (
            <ThreadListItemPrimitive.Root>
              <ThreadListItemPrimitive.Trigger>
                <ThreadListItemPrimitive.Title />
              </ThreadListItemPrimitive.Trigger>
            </ThreadListItemPrimitive.Root>
          )}
        </ThreadListPrimitive.Items>
      </ThreadListPrimitive.Root>
      <main data-status={chat.status}>
        <ThreadPrimitive.Root>
          <ThreadPrimitive.Messages>
            {({ message }) => (
              <MessagePrimitive.Root className={message.role}>
                <MessagePrimitive.Parts>
                  {({ part }) => (part.type === 'text' ? <p>{part.text}</p> : null)}
                </MessagePrimitive.Parts>
                <MessagePrimitive.Error />
                {message.role === 'assistant' && (
                  <>
                    <ActionBarPrimitive.Reload>Ask again</ActionBarPrimitive.Reload>
                    <BranchPickerPrimitive.Root hideWhenSingleBranch>
                      <BranchPickerPrimitive.Previous>Previous</BranchPickerPrimitive.Previous>
                      <BranchPickerPrimitive.Number /> / <BranchPickerPrimitive.Count />
                      <BranchPickerPrimitive.Next>Next</BranchPickerPrimitive.Next>
                    </BranchPickerPrimitive.Root>
                  </>
                )}
              </MessagePrimitive.Root>
            )}
          </ThreadPrimitive.Messages>
          <ComposerPrimitive.Root>
            <ComposerPrimitive.Input placeholder="Count to 50" />
            <AuiIf condition={({ thread }) => !thread.isRunning}>
              <ComposerPrimitive.Send>Send</ComposerPrimitive.Send>
            </AuiIf>
            <AuiIf condition={({ thread }) => thread.isRunning}>
              <ComposerPrimitive.Cancel>Stop</ComposerPrimitive.Cancel>
            </AuiIf>
          </ComposerPrimitive.Root>
        </ThreadPrimitive.Root>
      </main>
    </AssistantRuntimeProvider>
  )
}

const named = new URLSearchParams(location.search).get('chat') ?? crypto.randomUUID()
const [listed, first] = await Promise.all([list(), open(named)])
createRoot(document.getElementById('root')!).render(<Page listed={listed} first={first} />)
