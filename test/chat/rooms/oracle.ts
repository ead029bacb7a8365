import type { PolicyAct, PolicyValue } from '../../../lib/core/policy.ts'

/**
 * Who may do what, written down once more and from the documentation alone: what the service answers is compared with it.
 */

/** The rights in the service of each role there; those about other persons go as far as it says. */
export const SERVICE: Record<string, Record<string, true | 'shared' | 'everyone'>> = {
  ...{ member: ofMembers(), admin: { ...ofMembers(), publish: true, moderate: true }, read_only: { browse: true } },
  writer: { post: true, react: true },
  browser: { browse: true },
  near: { ...ofMembers(), add_people: 'shared', publish: true },
  crier: { post: true, mention_all: true, upload: true, browse: true, publish: true, invite: true },
}

/** Of the roles above, those that are configured. */
export const OWN_ROLES = {
  ...{ writer: SERVICE.writer, browser: SERVICE.browser, crier: SERVICE.crier },
  near: { ...SERVICE.near, find_users: 'everyone' },
}

/** The rights in a conversation of each role there. */
export const PLACES: Record<string, string[]> = {
  viewer: [],
  member: ['post', 'react', 'attach', 'pin', 'ask'],
  moderator: ['post', 'react', 'attach', 'pin', 'ask', 'moderate'],
  admin: ['post', 'react', 'attach', 'pin', 'ask', 'moderate', 'add', 'invite', 'manage', 'policy'],
  owner: 'post react attach pin ask moderate add invite manage policy rename publish freeze delete'.split(' '),
  herald: ['post', 'invite', 'publish'],
  clerk: ['add', 'manage', 'policy', 'freeze'],
}

/** Of the roles above, those that are configured. */
export const OWN_PLACES = { herald: { rights: PLACES.herald }, clerk: { rights: PLACES.clerk } }

function ofMembers(): Record<string, true | 'everyone'> {
  const rights = 'browse invite upload mention_all post react create_conversations'.split(' ')
  return { ...Object.fromEntries(rights.map((name) => [name, true])), add_people: 'everyone' }
}

/** What the oracle knows of a person. */
export interface Someone {
  name: string
  roles: string[]
}

/** What the oracle knows of a conversation. */
export interface Place {
  visibility: 'private' | 'listed' | 'open'
  join: 'invite' | 'anyone'
  policy: Partial<Record<PolicyAct, PolicyValue>>
  frozen: boolean
  /** The role of each participant, by name. */
  roles: Map<string, string>
}

/** An act in a conversation, and towards whom, or to what role. */
export interface Deed {
  act: string
  towards?: Someone
  role?: string
  /** As what all may be mentioned. */
  as?: ('post' | 'reply')[]
  /** What a change would make of the conversation. */
  visibility?: Place['visibility']
  join?: Place['join']
  frozen?: boolean
}

const has = ({ roles }: Someone, right: string) => roles.map((role) => SERVICE[role]?.[right]).find(Boolean)
const reach = ({ roles }: Someone, right: string) => {
  const all = roles.map((role) => SERVICE[role]?.[right])
  return all.find((each) => each === 'everyone') ?? all.find(Boolean)
}
const mayWrite = ({ roles }: Someone) => roles.some((role) => role !== 'read_only')
const mayRead = (place: Place, person: Someone) =>
  place.roles.has(person.name) || (place.visibility === 'open' && has(person, 'browse') !== undefined)

/** The right in the service that an act takes as well as that in the conversation. */
const TAKES: Record<string, string> = {
  ...{ post: 'post', reply: 'post', mention_all: 'mention_all', react: 'react', attach: 'upload' },
  ...{ add: 'add_people', invite: 'invite', publish: 'publish' },
}

/** The right that makes a role one of those that a value of a policy names. */
const NAMED: Record<string, string> = { members: 'post', moderators: 'moderate', admins: 'manage', owners: 'delete' }

/** Why a role in the service refuses an act. */
function byRoles(person: Someone, act: string): string | undefined {
  const right = TAKES[act]
  if (right && !has(person, right)) return `role ${right}`
  return mayWrite(person) ? undefined : 'role'
}

/** Why the role in the conversation, or its policy, refuses an act. */
function byPlace({ policy }: Place, own: string, act: string): string | undefined {
  const right = act === 'reply' ? 'post' : act
  const isSet = policy[act as PolicyAct] !== undefined
  const value = policy[act as PolicyAct] ?? (act === 'mention_all' ? 'admins' : undefined)
  if (value === undefined) return PLACES[own]!.includes(right) ? undefined : `participant_role ${right}`
  if (value === 'everyone' || (value !== 'nobody' && PLACES[own]!.includes(NAMED[value]!))) return undefined
  return `${isSet ? 'policy' : 'participant_role'} ${act}`
}

const covers = (own: string, other: string) => PLACES[other]!.every((right) => PLACES[own]!.includes(right))

/** Whether two persons are in a common conversation that nobody joins by themselves. */
const share = (places: Place[], one: Someone, other: Someone) =>
  places.some(({ visibility, roles }) => visibility === 'private' && roles.has(one.name) && roles.has(other.name))

/** The answer to an act: `ok`, the reason with the right, or the code of a failure that is no matter of rights. */
export function verdict(places: Place[], place: Place, person: Someone, deed: Deed): string {
  const { act, towards, role } = deed
  const own = place.roles.get(person.name)
  if (act === 'read') return mayRead(place, person) ? 'ok' : 'not_found'
  if (act === 'join') return ofJoining(place, person)
  // A message that mentions all is a message first.
  const ways = act === 'mention_all' ? (deed.as ?? ['post']).map((act) => verdict(places, place, person, { act })) : []
  if (ways.length > 0 && !ways.includes('ok')) return ways[0]!
  const isSelf = towards?.name === person.name
  if (!mayRead(place, person)) return 'not_found'
  if (act === 'remove' && isSelf) return own === undefined ? 'not_joined' : 'ok'
  const right = act === 'remove' || act === 'change' ? 'manage' : act
  const refused = byRoles(person, right)
  if (refused) return refused
  if (
    act === 'add' &&
    towards &&
    !isSelf &&
    reach(person, 'add_people') === 'shared' &&
    !share(places, person, towards)
  )
    return 'not_shared'
  if (own === undefined) return 'not_joined'
  const theirs = towards && place.roles.get(towards.name)
  if ((act === 'change' || act === 'remove') && theirs === undefined) return 'not_found'
  const others = act === 'change' ? [theirs!, role!] : act === 'remove' ? [theirs!] : role ? [role] : []
  // A participant gives and takes no right that it has not itself.
  if (others.some((each) => !covers(own, each))) return `participant_role ${right}`
  const refusedHere = byPlace(place, own, right)
  if (refusedHere) return refusedHere
  const goesOn = act === 'moderate' || act === 'freeze' || act === 'remove'
  if (place.frozen && !goesOn) return 'frozen'
  if (act === 'add' && theirs !== undefined) return 'already_participant'
  const after = { ...place, ...deed }
  if ((act === 'publish' || act === 'policy') && after.visibility === 'private' && after.join === 'anyone')
    return 'conflict'
  return 'ok'
}

function ofJoining(place: Place, person: Someone): string {
  if (!mayWrite(person)) return 'role'
  if (!has(person, 'browse')) return 'role browse'
  if (place.roles.has(person.name)) return 'ok'
  if (place.visibility === 'private') return 'not_found'
  if (place.join !== 'anyone') return 'policy join'
  return place.frozen ? 'frozen' : 'ok'
}

/** What `can` says that an act of these would be answered by `ok`. */
export const SHOWN = 'post reply react attach pin moderate add invite manage policy rename publish freeze delete'.split(
  ' ',
)

/** What a person may do in a conversation at the moment, as its reads say. */
export function canOf(place: Place, person: Someone): string[] {
  const own = place.roles.get(person.name)
  if (own === undefined) return ofJoining(place, person) === 'ok' ? ['join'] : []
  const may = (act: string) =>
    !byRoles(person, act) && !byPlace(place, own, act) && (!place.frozen || act === 'moderate' || act === 'freeze')
  const writes = may('post') || may('reply')
  return [...SHOWN.filter(may), ...(may('mention_all') && writes ? ['mention_all'] : [])]
}

/** The answer to what takes a right in the service alone. */
export function ofService(person: Someone, right: string): string {
  return has(person, right) ? 'ok' : `role ${right}`
}
