import type { Actor, Chat } from '../../../lib/index.ts'
import { type Deed, PLACES, type Place, type Someone } from './oracle.ts'

/** A person of a run. */
export interface Person extends Someone {
  id: string
  actor: Actor
  /** The numbers of the events that the person's stream has got, by conversation. */
  got: Map<string, Set<number>>
}

/** A conversation of a run. */
export interface Room extends Place {
  id: string
  title: string
  /** What is replied to, reacted to and pinned. */
  kept: string
  /** What is there to be deleted. */
  left: string[]
  /** Of each event since the room was made: who participated before it and after it. */
  audience: Map<number, { before: Set<string>; after: Set<string> }>
  last_seq: number
}

/** An attempt of an act. */
interface Attempt {
  /** What the oracle is asked. */
  deed: Deed
  call: () => Promise<unknown>
  /** Tells the room of what the call has done. */
  done: () => void
}

export const pickOf = <T>(list: readonly T[], n: number): T => list[n % list.length]!
const VALUES = [undefined, 'everyone', 'members', 'moderators', 'admins', 'owners', 'nobody'] as const
const POLICY = ['post', 'reply', 'react', 'attach', 'pin', 'add', 'invite', 'mention_all'] as const

/** An attempt of an act by its name. */
export function attempt(chat: Chat, room: Room, [person, other]: [Person, Person], act: string, pick: number): Attempt {
  const { id } = room
  const { actor } = person
  const role = pickOf(Object.keys(PLACES), pick)
  const rename = (deed: Partial<Deed>, input: object, done = () => {}) => ({
    deed: { act: 'policy', ...deed },
    call: () => chat.conversations.rename(actor, id, input),
    done,
  })
  const plain = (call: () => Promise<unknown>) => ({ deed: { act }, call, done: () => {} })
  switch (act) {
    case 'post':
      return plain(() => chat.messages.postRoot(actor, id, { content: 'x' }))
    case 'reply':
      return plain(() => chat.messages.reply(actor, room.kept, { content: 'x' }))
    case 'mention_all':
      return plain(() => chat.messages.postRoot(actor, id, { content: 'x', mentions: { all: true } }))
    case 'react':
      return plain(() => chat.reactions.add(actor, room.kept, '👍'))
    case 'attach':
      return plain(() => chat.attachments.create(actor, id, { name: 'a.txt', size: 1 }))
    case 'pin':
      return plain(() => chat.pins.add(actor, room.kept))
    case 'moderate': {
      const [first] = room.left
      return { ...plain(() => chat.messages.remove(actor, first!, {})), done: () => void room.left.shift() }
    }
    case 'add':
      return {
        deed: { act, towards: other, role },
        call: () => chat.participants.add(actor, id, { user_id: other.id, role }),
        done: () => void room.roles.set(other.name, role),
      }
    case 'invite':
      return { deed: { act, role }, call: () => chat.invites.create(actor, id, { role }), done: () => {} }
    case 'change':
      return {
        deed: { act, towards: other, role },
        call: () => chat.participants.changeRole(actor, id, other.id, { role }),
        done: () => void room.roles.set(other.name, role),
      }
    case 'remove':
    case 'leave': {
      const one = act === 'leave' ? person : other
      return {
        deed: { act: 'remove', towards: one },
        call: () => chat.participants.remove(actor, id, one.id),
        done: () => void room.roles.delete(one.name),
      }
    }
    case 'join':
      return {
        deed: { act },
        call: () => chat.conversations.join(actor, id),
        done: () => void room.roles.set(person.name, room.roles.get(person.name) ?? 'member'),
      }
    case 'rename':
      return rename({ act: 'rename' }, { title: room.title })
    case 'topic':
      return rename({}, { topic: `about ${pick}` })
    case 'policy': {
      const key = pickOf(POLICY, pick)
      const value = pickOf(VALUES, pick >> 4)
      if (pick % 3 > 0)
        return rename({}, { policy: { [key]: value ?? null } }, () => {
          if (value) room.policy[key] = value
          else delete room.policy[key]
        })
      const join = pick % 2 ? 'anyone' : 'invite'
      return rename({ join }, { policy: { join } }, () => void Object.assign(room, { join }))
    }
    case 'visibility': {
      const visibility = pickOf(['open', 'listed', 'private', 'open'] as const, pick)
      return rename({ act: 'publish', visibility }, { visibility }, () => void Object.assign(room, { visibility }))
    }
    case 'freeze': {
      const frozen = !room.frozen
      return rename({ act, frozen }, { frozen }, () => void Object.assign(room, { frozen }))
    }
    default:
      return { ...plain(() => chat.messages.get(actor, room.kept)), deed: { act: 'read' } }
  }
}
