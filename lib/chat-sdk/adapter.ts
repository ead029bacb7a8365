import {
  type Adapter,
  type ChatInstance,
  defaultEmojiResolver,
  type EmojiValue,
  type Message,
  type RawMessage,
  stringifyMarkdown,
} from 'chat'
import type { Message as ApiMessage } from '../api/client-entities.ts'
import { undefinedIfGone } from '../client/backoff.ts'
import { refuseUnknown } from '../client/options.ts'
import type { ChatClient } from '../client/types.ts'
import type { NamesOf } from '../core/known-names.ts'
import type { ReceiveStore } from '../receive/index.ts'
import { fetchChannel } from './channel.ts'
import { createDirectory } from './directory.ts'
import { fetchPage, listThreads } from './history.ts'
import { abortTurn, type Incoming } from './incoming.ts'
import { createInvocations } from './invocations.ts'
import { createPosting } from './posting.ts'
import { createReceiving } from './receiving.ts'
import { type ChatServerThreadId, createThreadIds } from './thread-ids.ts'
import { toMessage, toReading } from './to-message.ts'

/** The options of {@link createChatServerAdapter}. Without `secrets` and `public_keys` it takes no webhooks: it pulls. */
export interface ChatServerAdapterOptions {
  /** A client with the key of the bot: `createChatClient({ base_url, api_key })`. */
  client: ChatClient
  /** Keeps the ids of the events that were handed over: `pgStore(pool)`, `sqliteStore(db)` of `chat-server/receive`. */
  // biome-ignore lint/suspicious/noExplicitAny: the adapter writes nothing in the transaction, of any database
  store: ReceiveStore<any>
  /** The name of the adapter, the same as its key in `adapters` of the SDK. @default 'chatserver' */
  name?: string
  /** For webhooks with `signature: v1`: `whsec_…`, two while one is replaced. */
  secrets?: string | readonly string[]
  /** For webhooks with `signature: v1a`: `whpk_…`. */
  public_keys?: string | readonly string[]
}

const OPTIONS: NamesOf<ChatServerAdapterOptions> = { client: 0, store: 0, name: 0, secrets: 0, public_keys: 0 }

/** How {@link ChatServerAdapter.pull} reads. */
export interface ChatServerPullOptions {
  /** Ends it. */
  signal?: AbortSignal
  /** The position at which it begins if none is stored. Default: now. */
  from?: string
}

const PULL_OPTIONS: NamesOf<ChatServerPullOptions> = { signal: 0, from: 0 }

/** A service as a platform of the Chat SDK. */
export interface ChatServerAdapter extends Adapter<ChatServerThreadId, ApiMessage> {
  /**
   * Reads events from the service, which then needs no way to this program. It begins where it stopped, and goes on
   * through outages until it is aborted, or until `disconnect`.
   *
   * @throws TypeError before `initialize` of the SDK; a refusal of the service
   */
  pull(options?: ChatServerPullOptions): Promise<void>
}

/** What says where a message is. */
type Placed = { id?: string; conversation_id: string; root_id: string }

/** How long others see that the bot is typing, unless it posts before. */
const TYPING_SECONDS = 20

/**
 * Makes a service a platform of the Chat SDK, the package `chat`: its channels are conversations, its threads are threads. Each event is
 * handed over once, and begins its handler in the order of the events; what a handler does is not repeated after a crash,
 * unless it comes within the moment in which the id of the event is stored.
 *
 * @throws TypeError for options that are none; ReceiveError `malformed` for a store or keys that are none
 * @example
 * const client = createChatClient({ base_url: 'https://chat.example.org', api_key: process.env.CHAT_KEY })
 * const chatserver = createChatServerAdapter({ client, store: pgStore(pool), secrets: process.env.WEBHOOK_SECRET })
 * const bot = new Chat({ userName: 'helper', adapters: { chatserver }, state: createMemoryState() })
 */
export function createChatServerAdapter(options: ChatServerAdapterOptions): ChatServerAdapter {
  refuseUnknown('createChatServerAdapter', options, OPTIONS)
  const { client, store, name = 'chatserver', ...keys } = options
  if (typeof client?.feed?.read !== 'function')
    throw new TypeError('createChatServerAdapter needs a client: pass what createChatClient returned')
  const ids = createThreadIds(name)
  const directory = createDirectory(client)
  const invocations = createInvocations()
  const state: { chat?: ChatInstance; me: string } = { me: '' }
  const receiving = createReceiving({ client, store, source: name, keys, incoming })
  const posting = createPosting({ client, directory, invocations, sent })

  function incoming(): Incoming {
    if (!state.chat) throw new TypeError('Call "initialize" of the Chat SDK before events arrive')
    return {
      adapter,
      chat: state.chat,
      client,
      directory,
      invocations,
      me: state.me,
      threadOf,
      async channelOf(conversation_id) {
        const direct = await directory.isDirect(conversation_id)
        return ids.encode({ conversation_id, ...(direct && { direct }) })
      },
      readMessage: async (raw) => (await readMessages([raw]))[0]!,
    }
  }

  async function threadOf(message: Placed): Promise<string> {
    return threadIn(message, await directory.isDirect(message.conversation_id))
  }

  /** In a direct conversation a root is no thread of its own: it is answered beside it. */
  function threadIn({ id, conversation_id, root_id }: Placed, direct: boolean): string {
    if (!direct) return ids.encode({ conversation_id, root_id })
    return ids.encode({ conversation_id, direct, ...(id !== root_id && { root_id }) })
  }

  async function readMessages(raw: readonly ApiMessage[]): Promise<Message<ApiMessage>[]> {
    const people = await directory.people(raw.map(({ author_user_id }) => author_user_id))
    return Promise.all(raw.map(async (each) => readAs(each, await threadOf(each), people.get(each.author_user_id!))))
  }

  function readAs(raw: ApiMessage, threadId: string, author?: Parameters<typeof toMessage>[1]['author']) {
    return toMessage(raw, { client, threadId, me: state.me, author })
  }

  async function sent(raw: ApiMessage): Promise<RawMessage<ApiMessage>> {
    return { id: raw.id, raw, threadId: await threadOf(raw) }
  }

  const adapter: ChatServerAdapter = {
    name,
    // Known with the first call of the service.
    userName: '',
    async initialize(chat) {
      const { user } = await client.auth.me()
      Object.assign(adapter, { userName: user.username, botUserId: user.id })
      Object.assign(state, { chat, me: user.id })
    },
    disconnect: receiving.end,
    handleWebhook: receiving.handle,
    async pull(pulling = {}) {
      refuseUnknown('pull', pulling, PULL_OPTIONS)
      await receiving.pull(pulling)
    },

    encodeThreadId: ids.encode,
    decodeThreadId: ids.decode,
    channelIdFromThreadId(id) {
      const { root_id, ...channel } = ids.decode(id)
      return ids.encode(channel)
    },
    isDM: (id) => ids.decode(id).direct === true,
    async openDM(user_id) {
      const { conversation_id } = await client.conversations.direct({ user_id })
      return ids.encode({ conversation_id, direct: true })
    },

    postMessage: (id, message) => posting.post(ids.decode(id), message),
    postChannelMessage: (id, message) => posting.post(ids.decode(id), message),
    reply: (id, message_id, message) => posting.post(ids.decode(id), message, message_id),
    async postEphemeral(id, user_id, message) {
      const notice = await posting.show(ids.decode(id), user_id, message)
      // A notice is no message, and there is no other place for it in the answer.
      return { id: notice.id, threadId: id, usedFallback: false, raw: notice as unknown as ApiMessage }
    },
    editMessage: (id, message_id, message) => posting.edit(ids.decode(id), message_id, message),
    deleteMessage: (_id, message_id) => client.messages.remove(message_id),
    stream: (id, chunks) => posting.stream(ids.decode(id), chunks, () => state.chat && abortTurn(state.chat, name, id)),
    addReaction: (_id, message_id, emoji) => client.reactions.add(message_id, toEmoji(emoji)),
    removeReaction: (_id, message_id, emoji) => client.reactions.remove(message_id, toEmoji(emoji)),
    startTyping: (id) => setTyping(id, TYPING_SECONDS),
    endTyping: (id) => setTyping(id, 0),
    // In a direct conversation a root is its own thread.
    markAsRead: (id, message_id) => client.threads.markRead(ids.decode(id).root_id ?? message_id, { message_id }),

    fetchMessages: (id, page) => fetchPage(client, readMessages, ids.decode(id), page),
    fetchChannelMessages(id, page) {
      const { conversation_id } = ids.decode(id)
      return fetchPage(client, readMessages, { conversation_id }, page)
    },
    listThreads: (id, page) => listThreads(client, readMessages, ids.decode(id).conversation_id, page),
    async fetchMessage(_id, message_id) {
      const raw = await client.messages.get(message_id).catch(undefinedIfGone)
      return raw ? (await readMessages([raw]))[0]! : null
    },
    async fetchThread(id) {
      const channel = await fetchChannel(client, ids, id)
      return { ...channel, id, channelId: channel.id, ...(channel.name !== undefined && { channelName: channel.name }) }
    },
    fetchChannelInfo: (id) => fetchChannel(client, ids, id),
    async getUser(user_id) {
      const person = (await directory.people([user_id])).get(user_id)
      if (!person) return null
      const { username: userName, display_name: fullName = userName, avatar_url: avatarUrl, kind } = person
      return { userId: user_id, userName, fullName, isBot: kind === 'bot', ...(avatarUrl && { avatarUrl }) }
    },
    parseMessage: (raw) => readAs(raw, threadIn(raw, directory.isKnownAsDirect(raw.conversation_id))),
    rehydrateAttachment(attachment) {
      const id = attachment.fetchMetadata?.attachment_id
      return id === undefined ? attachment : { ...attachment, ...toReading(client, id) }
    },
    renderFormatted: stringifyMarkdown,
  }

  async function setTyping(id: string, seconds: number): Promise<void> {
    const { conversation_id, root_id } = ids.decode(id)
    await client.presence.setTyping({ conversation_id, seconds, ...(root_id !== undefined && { root_id }) })
  }

  return adapter
}

function toEmoji(emoji: EmojiValue | string): string {
  return defaultEmojiResolver.toGChat(emoji)
}
