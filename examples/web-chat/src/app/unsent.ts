import { type ChatClient, ChatError } from 'chat-server/client'
import type { ChatStore } from 'chat-server/client/store'
import { texts } from '../texts/texts.ts'
import {
  forgetUnsentPost,
  isTooOld,
  keepUnsentPost,
  newKey,
  renewUnsentPost,
  TAB,
  type UnsentPost,
  unsentPost,
  unsentPosts,
} from './unsent-storage.ts'

/** What keeps posts until they are stored, whatever becomes of the page. */
export interface Unsent {
  /** Forgets a post with the response that it is stored, whoever has sent it again. It refuses one that is too old for its key. */
  client: ChatClient
  /** Keeps what is posted. What is too old is sent again with another key. */
  storeOf(store: ChatStore): ChatStore
  /** Sends what an earlier page of the user has left, with the same keys. */
  restore(store: ChatStore): Promise<void>
}

/** @param userId who is signed in */
export function createUnsent(client: ChatClient, userId: () => string): Unsent {
  void holdLock()?.catch(() => {})

  function oldPost(key: string): UnsentPost | undefined {
    const post = unsentPost(userId(), key)
    return post && isTooOld(post) ? post : undefined
  }

  function forgetting<Args extends unknown[], Result>(post: (...args: Args) => Promise<Result>) {
    return async (...args: Args): Promise<Result> => {
      const options = args[2] as { headers?: Record<string, string> } | undefined
      const key = options?.headers?.['idempotency-key']
      if (key !== undefined && oldPost(key)) throw tooOld()
      const result = await post(...args)
      if (key !== undefined) forgetUnsentPost(userId(), key)
      return result
    }
  }

  const { messages } = client
  const { postRoot, reply } = messages
  return {
    client: { ...client, messages: { ...messages, postRoot: forgetting(postRoot), reply: forgetting(reply) } },
    storeOf(store) {
      const keeping: ChatStore = {
        ...store,
        post(post) {
          const key = post.key ?? newKey()
          keepUnsentPost(userId(), { ...post, key, tab: TAB, at: Date.now() })
          return store.post({ ...post, key })
        },
        retry(key) {
          const post = oldPost(key) && renewUnsentPost(userId(), key)
          if (!post) return store.retry(key)
          store.discard(key)
          return keeping.post(post)
        },
        discard(key) {
          forgetUnsentPost(userId(), key)
          store.discard(key)
        },
      }
      return keeping
    },
    async restore(store) {
      const user_id = userId()
      const others = await otherTabs()
      for (const post of unsentPosts(user_id))
        if (!others.has(post.tab) && !isTooOld(post)) void sendAgain(store, user_id, { ...post, tab: TAB })
    },
  }
}

async function sendAgain(store: ChatStore, user_id: string, post: UnsentPost): Promise<void> {
  const { tab: _, at: __, ...rest } = post
  const sent = store.post(rest)
  // With the time at which it was posted first: the key is known since then.
  keepUnsentPost(user_id, post)
  await sent
}

const LOCK = 'chat:tab:'

/** Held as long as the tab is there. A page that may store nothing is refused locks, too. */
function holdLock(): Promise<unknown> | undefined {
  return navigator.locks?.request(LOCK + TAB, () => new Promise(() => {}))
}

/** The other tabs that are there: what they have posted is theirs to send. */
async function otherTabs(): Promise<ReadonlySet<string>> {
  const { held = [] } = (await navigator.locks?.query().catch(() => undefined)) ?? {}
  const tabs = held.flatMap(({ name }) => (name?.startsWith(LOCK) ? name.slice(LOCK.length) : []))
  return new Set(tabs.filter((tab) => tab !== TAB))
}

/** The failure of a post whose key the service may have forgotten: it is sent when the user says so. */
function tooOld(): ChatError {
  return new ChatError('conflict', { status: 409, errors: [{ path: '', message: texts.peek().messages.too_old }] })
}
