import type { Approval, PostedMessage } from '../../api/client-entities.ts'
import { partOf, type StoreBase } from './base.ts'
import type { Readable } from './cell.ts'
import type { ChatStore, TimelineStoreMessage } from './index.ts'

/** A talk with an assistant, as it is shown. */
export interface AssistantChatView {
  /**
   * `loading` until it is read; then, by what is going on with the user's own questions, `sending`, `streaming`, `waiting` for
   * a decision on a call of a tool, or `failed` if the last one could not be sent or answered; else `ready`.
   */
  status: 'loading' | 'ready' | 'sending' | 'streaming' | 'waiting' | 'failed'
  /** Why it could not be read, or the last question not be sent. */
  error?: unknown
  /**
   * The newest messages of the conversation by arrival: a question and its answer are one message, with `prompt` and `content`. Of
   * several answers to one question they have the latest, with what follows that.
   */
  messages: readonly TimelineStoreMessage[]
  /** Whether `loadOlder` finds more. */
  has_older: boolean
  /** The calls of tools that wait for a decision, oldest first; with `may_decide` if the user may decide. */
  approvals: readonly Approval[]
}

/** What a question has besides its text. */
export interface QuestionOptions {
  /** The key of the assistant. Default: that of the answer above, or of the conversation. */
  assistant?: string | undefined
  /** The message below which it is asked; `null` begins a thread. Default: the last answer that is shown, if there is one. */
  parent_id?: string | null | undefined
}

/** Another answer to a question. */
export interface RegenerateOptions {
  /** The answer. Default: the last one of the user. */
  message_id?: string | undefined
  /** Another question in the place of that one. */
  content?: string | undefined
  /** The key of another assistant. */
  assistant?: string | undefined
}

/** What a user does in a talk with an assistant. */
export interface AssistantChatActions {
  /**
   * Asks, and shows the question at once.
   *
   * @returns the stored question, or `undefined` after a failure: then it stays, with `pending.status: 'failed'`
   */
  send: (content: string, options?: QuestionOptions) => Promise<PostedMessage | undefined>
  /** Stops the user's own answers in progress; their texts so far are kept. @throws ChatError as `client.answers.cancel` */
  stop: () => Promise<void>
  /** Asks again. @returns as `send` @throws Error without an answer that has ended */
  regenerate: (options?: RegenerateOptions) => Promise<PostedMessage | undefined>
  /** Decides on a call of a tool. @throws ChatError as `client.approvals.decide` */
  decide: (call_id: string, decision: { approve: boolean; reason?: string }) => Promise<void>
  /** Reads earlier messages. */
  loadOlder: () => Promise<void>
}

/** A talk with an assistant. */
export interface AssistantChat extends Readable<AssistantChatView>, AssistantChatActions {}

/** What a talk does, once its code is there. */
export type LoadedChat = Omit<AssistantChat, 'getServerSnapshot'>

const NOTHING: AssistantChatView = { status: 'loading', messages: [], has_older: false, approvals: [] }

/** The talk with an assistant in a conversation: the same at each call. Most of its code is loaded when it is first used. */
export function assistantOf(store: ChatStore, conversation_id: string): AssistantChat {
  return partOf(store, createChats)(store, conversation_id)
}

function createChats(base: StoreBase) {
  const chats = new Map<string, AssistantChat>()
  let loading: Promise<(store: ChatStore, conversation_id: string) => LoadedChat> | undefined
  // Loaded again after a failure.
  const load = () => {
    loading ??= import('./assistant-chat.ts').then(({ createAssistantChats }) => createAssistantChats(base))
    loading.catch(() => {
      loading = undefined
    })
    return loading
  }
  return (store: ChatStore, conversation_id: string): AssistantChat => {
    const chat = chats.get(conversation_id) ?? createAssistantChat(async () => (await load())(store, conversation_id))
    chats.set(conversation_id, chat)
    return chat
  }
}

/** A talk whose code is loaded when it is first used. */
export function createAssistantChat(load: () => Promise<LoadedChat>): AssistantChat {
  let loaded: LoadedChat | undefined
  let failure: AssistantChatView | undefined

  async function open(): Promise<LoadedChat> {
    loaded ??= await load()
    return loaded
  }

  return {
    getSnapshot: () => loaded?.getSnapshot() ?? failure ?? NOTHING,
    getServerSnapshot: () => NOTHING,
    subscribe(listener) {
      let stop: (() => void) | undefined = () => {}
      const follow = (chat: LoadedChat) => {
        if (stop) stop = chat.subscribe(listener)
      }
      if (loaded) follow(loaded)
      else
        open().then(
          (chat) => {
            follow(chat)
            listener()
          },
          (error) => {
            failure = { ...NOTHING, status: 'failed', error }
            listener()
          },
        )
      return () => {
        stop?.()
        stop = undefined
      }
    },
    send: async (...question) => (await open()).send(...question),
    stop: async () => (await open()).stop(),
    regenerate: async (options) => (await open()).regenerate(options),
    decide: async (...decision) => (await open()).decide(...decision),
    loadOlder: async () => (await open()).loadOlder(),
  }
}
