import { type Context, createContext, createElement, type ReactNode, useContext, useMemo, useRef } from 'react'
import { type ChatStore, type ChatStoreOptions, createChatStore } from '../store/index.ts'
import type { StoreClient } from '../store/types.ts'

const ChatContext: Context<ChatStore | undefined> = createContext<ChatStore | undefined>(undefined)

/** Either a store, or a client for a store of this provider. */
export type ChatProviderProps = { children?: ReactNode } & (
  | { store: ChatStore; client?: undefined; initial?: undefined }
  | {
      client: StoreClient
      store?: undefined
      /** What the server has rendered the page with, by `chat.snapshots.create`. */
      initial?: ChatStoreOptions['initial']
    }
)

/**
 * Gives the hooks below it a store. Nothing is sent before a hook is mounted in a browser; on a server, hooks return what
 * they return before anything was read, or with `initial` what that has.
 *
 * @example
 * const client = createChatClient({ base_url: '/chat' })
 * const App = () => <ChatProvider client={client}><Conversations /></ChatProvider>
 */
export function ChatProvider({ store, client, initial, children }: ChatProviderProps): ReactNode {
  // What the page begins with does not change afterwards.
  const first = useRef(initial)
  // A store does nothing until it is subscribed to, so one that strict mode or a discarded render makes is harmless.
  const value = useMemo(() => {
    if (!store && !client) throw new TypeError('<ChatProvider> needs client={createChatClient({ … })}, or a store')
    return store ?? createChatStore(client, { initial: first.current })
  }, [store, client])
  return createElement(ChatContext.Provider, { value }, children)
}

/** The store of the provider above. @throws Error without one */
export function useChatStore(): ChatStore {
  const store = useContext(ChatContext)
  if (!store) throw new Error('The hooks of chat-server/react need a <ChatProvider> above them')
  return store
}
