import { type Signal, signal } from '@preact/signals'
import { type ChatClient, ChatError, createChatClient, type Person } from 'chat-server/client'
import { presenceOf } from 'chat-server/client/parts'
import { createChatStore } from 'chat-server/client/store'
import type { Config } from './config.ts'
import type { App } from './context.ts'
import { csrfToken } from './csrf-token.ts'
import { clearAfter, forgetByEvents } from './forget-events.ts'
import { createKeptFetch } from './kept-fetch.ts'
import { createPeople } from './people.ts'
import { resend } from './resend.ts'
import { followHash } from './route.ts'
import { createSession } from './session.ts'
import { shareStream } from './shared/stream.ts'
import { createSnapshot } from './snapshot.ts'
import { createUnsent } from './unsent.ts'

/** How far the page has come. */
export type StartState = { at: 'starting' } | { at: 'failed'; error: unknown } | { at: 'ready'; app: App }

/** The start of the page, which may be repeated after a failure. */
export interface Start {
  state: Signal<StartState>
  begin(): Promise<void>
}

/** Begins at once: asks what the service offers, and who is signed in. */
export function createStart({ api, brand }: Config): Start {
  const state = signal<StartState>({ at: 'starting' })

  async function begin(): Promise<void> {
    state.value = { at: 'starting' }
    try {
      const app = await open()
      state.value = { at: 'ready', app }
    } catch (error) {
      state.value = { at: 'failed', error }
    }
  }

  // A page that shows no sign-in asks no service whether it is set up.
  const hasOtherSignIn = brand.sign_in_url !== undefined

  async function open(): Promise<App> {
    const snapshot = createSnapshot()
    const keptFetch = createKeptFetch(api, snapshot)
    const anonymous = createChatClient({ base_url: api, fetch: keptFetch })
    const asking = anonymous.auth.me().then(({ user }) => user, ifSignedOut)
    const [features, user, isSetUp] = await Promise.all([
      anonymous.capabilities.get(),
      asking,
      asking.then((user) => user !== undefined || hasOtherSignIn || knowsSetUp(anonymous)),
    ])
    const { cookie_name, header_name } = features.csrf ?? {}
    const csrf_token = csrfToken()
    const client_options = {
      base_url: api,
      ...(cookie_name && { csrf_cookie_name: cookie_name }),
      ...(header_name && { csrf_header_name: header_name }),
    }
    const userId = () => session.user.peek()?.id ?? ''
    const onUser = (changed: Person) => {
      people.update(changed)
      const { username, display_name, avatar_url } = changed
      const own = session.user.peek()
      if (own?.id === changed.id) session.update({ ...own, username, display_name, avatar_url })
    }
    const unsent = createUnsent(
      // A page of another origin than the service cannot read its cookies.
      createChatClient({ ...client_options, fetch: keptFetch, ...(csrf_token && { csrf_token }) }),
      userId,
    )
    const { client } = unsent
    const shared = shareStream(client, () => `chat:stream:${api}:${userId()}`)
    const people = createPeople(client, features)
    const forgetting = { snapshot, userId, client, name: `chat:kept:${api}`, onUser, onMissed: people.invalidate }
    const store = unsent.storeOf(createChatStore(forgetByEvents(shared, forgetting)))
    const session = createSession(client, store, { user, isSetUp }, api)
    session.user.subscribe(() => people.assistants.invalidate())
    resend(unsent, store, session)
    clearAfter(session, snapshot)
    const presence = presenceOf(store)
    const route = followHash()
    return { brand, features, client, client_options, store, presence, session, snapshot, people, route }
  }

  void begin()
  return { state, begin }
}

/** A service in which the application signs in has no set-up. */
async function knowsSetUp(client: ChatClient): Promise<boolean> {
  const { is_setup } = await client.setup.get().catch(ifMissing)
  return is_setup
}

function ifMissing(error: unknown): { is_setup: boolean } {
  if (error instanceof ChatError && error.status === 404) return { is_setup: true }
  throw error
}

function ifSignedOut(error: unknown): undefined {
  if (error instanceof ChatError && error.status === 401) return undefined
  throw error
}
