import { type ReadonlySignal, signal } from '@preact/signals'
import type { ChatClient, User } from 'chat-server/client'
import type { ChatStore } from 'chat-server/client/store'
import { forgetDrafts } from '../compose/drafts.ts'
import { NOTICED } from '../compose/noticed.ts'
import { RECENT_EMOJI } from '../emoji/recent-key.ts'
import { attempt } from './attempt.ts'
import { keepCsrfToken } from './csrf-token.ts'
import { keepLastPlace } from './last-place.ts'
import { shareSignIns } from './shared/sign-ins.ts'
import { forgetUnsent } from './unsent-storage.ts'

/** An account of a newcomer; without `email`, it has the address of the invite. */
export interface NewAccount {
  display_name: string
  email?: string
  password: string
}

/** The account of the first administrator. */
export interface FirstAccount {
  email: string
  password: string
  display_name?: string
  setup_code?: string
}

/** Who uses the page. */
export interface Session {
  /** `undefined` before a sign-in. */
  user: ReadonlySignal<User | undefined>
  /** Whether the service has a first administrator. */
  isSetUp: ReadonlySignal<boolean>
  /** Whether the last session ended without a sign-out. */
  hasEnded: ReadonlySignal<boolean>
  /** Signs in; `claims`: what the guest of before has written is the user's. @throws ChatError as `client.auth.login` */
  signIn(email: string, password: string, options?: { claims?: boolean }): Promise<void>
  /**
   * Creates the first administrator, and signs in; `prepare` runs before the chat is shown.
   *
   * @throws ChatError as `client.setup.run`
   */
  setUp(account: FirstAccount, prepare: () => Promise<void>): Promise<void>
  /** Accepts an invite, as a newcomer with an account. @returns the conversation. @throws ChatError as `client.invites.accept` */
  join(token: string, account?: NewAccount): Promise<string>
  /** Signs a newcomer to the service up, and in; `prepare` as for `setUp`. @throws ChatError as `client.newcomers.signUp` */
  signUp(token: string, account: NewAccount, prepare: (conversation_id?: string) => Promise<void>): Promise<void>
  /** The user has changed the own account. */
  update(user: User): void
  /** Signs out here; nothing of the user stays. */
  signOut(): Promise<void>
  /** The service has ended the session. */
  end(): void
}

/** @param known who is signed in, and whether the service is set up */
export function createSession(
  client: ChatClient,
  store: ChatStore,
  known: { user: User | undefined; isSetUp: boolean },
  api: string,
): Session {
  const user = signal(known.user)
  const isSetUp = signal(known.isSetUp)
  const hasEnded = signal(false)
  const tellOthers = shareSignIns(api, () => user.peek()?.id ?? '')

  function begin(next: User, csrf_token?: string): void {
    keepCsrfToken(csrf_token)
    hasEnded.value = false
    isSetUp.value = true
    user.value = next
    store.restart()
    tellOthers({ user_id: next.id, csrf_token })
  }

  async function signIn(email: string, password: string, { claims = false } = {}): Promise<void> {
    const { user, csrf_token } = await client.auth.login({ email, password, ...(claims && { claim: true }) })
    begin(user, csrf_token)
  }

  function leave(): void {
    keepCsrfToken(null)
    user.value = undefined
    store.restart()
  }

  return {
    user,
    isSetUp,
    hasEnded,
    signIn,
    async setUp({ email, password, ...rest }, prepare) {
      await client.setup.run({ email, password, ...rest })
      const { user, csrf_token } = await client.auth.login({ email, password })
      await prepare()
      begin(user, csrf_token)
    },
    async signUp(token, account, prepare) {
      const { user, csrf_token, conversation_id } = await client.newcomers.signUp({ token, ...account })
      await prepare(conversation_id)
      begin(user, csrf_token)
    },
    async join(token, account) {
      const { conversation_id } = await client.invites.accept({ token, ...account })
      if (account) begin((await client.auth.me()).user)
      return conversation_id
    },
    update: (changed) => {
      user.value = changed
    },
    async signOut() {
      if (user.value) {
        forgetDrafts(user.value.id)
        forgetUnsent(user.value.id)
        keepLastPlace(user.value.id)
      }
      for (const key of [RECENT_EMOJI, NOTICED]) attempt(() => localStorage.removeItem(key))
      // A session that has ended already is what is wanted.
      await client.auth.logout().catch(() => {})
      leave()
    },
    end() {
      leave()
      hasEnded.value = true
    },
  }
}
