import type { AnyRoute } from '../../lib/endpoint.ts'
import { allRoutes } from '../support/all-routes.ts'

/** How the calls of a pass are authenticated. */
export type Caller = 'key' | 'session' | 'nobody'

/** Calls that are made together by one caller. */
export interface Pass {
  name: string
  as: Caller
  operations: string[]
  /** What schemathesis does, in its words. */
  phases: string
}

/**
 * Calls that end or take away what the calls are made with: a session, a key, a password, an account. They are made apart
 * from those whose answers would tell them which one that is.
 */
const ENDS_ACCESS = [
  'authRevokeSession',
  'keysRevoke',
  'keysRevokeAny',
  'authChangePassword',
  'usersChange',
  'usersErase',
  'usersEraseBySubject',
  'usersEndBySubject',
  'usersMerge',
  'usersEndSession',
  'usersEndSessions',
  'authChangeProfile',
]

/** Without a session these only say that there is none; with one, they end it. */
const ENDS_SESSION = ['authLogout', 'authRefresh']

const isOfSession = ({ access }: AnyRoute) => access === 'session' || access === 'admin'
/** Calls no key may make; the use-cases say which these are. */
const isForPeople = (name: string, { sign_in }: AnyRoute) =>
  sign_in || /^users(Create|Ensure|Merge)$|BySubject$/.test(name)

const namesWhere = (belongs: (name: string, route: AnyRoute) => boolean) =>
  allRoutes.filter(([name, route]) => belongs(name, route)).map(([name]) => name)

const nobody = namesWhere((name, route) => !isOfSession(route) || ENDS_SESSION.includes(name))
const ending = namesWhere((name) => ENDS_ACCESS.includes(name))
const people = namesWhere((name, route) => isForPeople(name, route) && !nobody.includes(name) && !ending.includes(name))
const rest = namesWhere((name) => ![...nobody, ...ending, ...people].includes(name))

const ALL = 'examples,coverage,fuzzing,stateful'
const ALONE = 'examples,coverage,fuzzing'

/** Every call once. */
export const PASSES: Pass[] = [
  { name: 'with an API key', as: 'key', operations: rest, phases: ALL },
  { name: 'with a session', as: 'session', operations: people, phases: ALONE },
  { name: 'what ends access', as: 'session', operations: ending, phases: ALONE },
  { name: 'without a session', as: 'nobody', operations: nobody, phases: ALONE },
]
