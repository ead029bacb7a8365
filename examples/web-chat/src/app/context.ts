import type { ReadonlySignal } from '@preact/signals'
import type { Capabilities, ChatClient, ClientOptions } from 'chat-server/client'
import type { presenceOf } from 'chat-server/client/parts'
import type { ChatStore } from 'chat-server/client/store'
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Brand } from './config.ts'
import type { People } from './people.ts'
import type { Route } from './route.ts'
import type { Session } from './session.ts'
import type { Snapshot } from './snapshot.ts'

type PresenceParts = ReturnType<typeof presenceOf>

/** What every part of the page can reach. */
export interface App {
  brand: Brand
  /** What the service offers. */
  features: Capabilities
  client: ChatClient
  /** How further clients reach the service. */
  client_options: ClientOptions
  store: ChatStore
  /** Who is there, and who is typing. */
  presence: PresenceParts
  session: Session
  /** What was seen, for a time without the service. */
  snapshot: Snapshot
  people: People
  route: ReadonlySignal<Route>
}

export const AppContext = createContext<App | undefined>(undefined)

/** The app around a component. */
export function useApp(): App {
  return useContext(AppContext)!
}
