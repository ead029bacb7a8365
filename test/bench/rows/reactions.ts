import { NAMED_USERS } from '../../../lib/chat/messages/schema.ts'
import { setReactionLists } from '../../../lib/chat/messages/store-reactions.ts'
import { insertReactions } from '../../../lib/chat/reactions/store.ts'
import { contextOf } from '../../../lib/core/context-of.ts'
import { httpRequest } from '../load/http.ts'
import { WARM_UP_MS } from '../load/measure.ts'
import { postContent } from '../load/template.ts'
import { addReplies, createPeople, numbers, type Person, type Place, withChat } from '../servers/people.ts'
import { compareCpu } from './compared.ts'

const UNDER_WAY = 32

/** With what the people react to each message. */
const EMOJI = ['👍', '🎉', '❤️', '👀', '🚀']
const PEOPLE = 20
const EACH = PEOPLE * EMOJI.length

/** No service adds more in a second. */
const MAX_REACTIONS = 10_000

const MESSAGES = 200
const CONNECTIONS = 4

/** Every one is new, and its message gets up to 100 of them. */
export const reaction = compareCpu(
  {
    name: 'reaction',
    title: `CPU of a reaction, ${UNDER_WAY} under way in a conversation`,
    peer: 'a post',
    reach: 1.2,
    beyond: 1,
  },
  UNDER_WAY,
  async (database, { rounds, seconds }) => {
    const { people, places } = await createPeople(database, PEOPLE, [numbers(PEOPLE)])
    const [place] = places as [Place]
    const count = Math.ceil(((rounds + 1) * (seconds + WARM_UP_MS / 1000) * MAX_REACTIONS) / EACH)
    const messages = await addReplies(database, people[0]!, place, count)
    let sent = 0
    const next = () => {
      const n = sent++
      const message = messages[Math.floor(n / EACH)]
      if (!message) throw new Error(`${n} reactions were too few`)
      const emoji = encodeURIComponent(EMOJI[Math.floor(n / PEOPLE) % EMOJI.length]!)
      return httpRequest('PUT', `/api/messages/${message}/reactions/${emoji}`, people[n % PEOPLE]!)
    }
    const post = httpRequest('POST', `/api/messages/${place.root_id}/reply`, {
      headers: people[1]!.headers,
      body: { content: postContent(0) },
    })
    return { service: next, peer: [post] }
  },
)

/** A page of messages that all people have reacted to, for one of the first of them and for the last one. */
export const reactedTree = [
  { name: 'tree-reacted', who: 'one of the first ten who reacted', reader: 0 },
  { name: 'tree-reacted-later', who: 'one of those who reacted later', reader: PEOPLE - 1 },
].flatMap(({ name, who, reader }) =>
  compareCpu(
    {
      name,
      title: `CPU of a page of ${MESSAGES} messages with ${EMOJI.length} emoji of ${PEOPLE} people each, for ${who}`,
      peer: 'the same without reactions',
      reach: 2,
      beyond: 1.5,
    },
    CONNECTIONS,
    async (database) => {
      const { people, places } = await createPeople(database, PEOPLE, [numbers(PEOPLE), numbers(PEOPLE)])
      const [reacted, plain] = places as [Place, Place]
      await reactToAll(database, people, await addReplies(database, people[0]!, reacted, MESSAGES - 1))
      await addReplies(database, people[0]!, plain, MESSAGES - 1)
      const read = ({ root_id }: Place) => [
        httpRequest('GET', `/api/threads/${root_id}/tree?limit=${MESSAGES}`, people[reader]!),
      ]
      return { service: read(reacted), peer: read(plain) }
    },
  ),
)

/** Stores the reactions of all people to these messages. */
function reactToAll(database: string, people: Person[], messages: string[]): Promise<void> {
  return withChat(database, async (chat) => {
    const { now, write } = contextOf(chat)
    const user_ids = people.slice(0, NAMED_USERS).map(({ user_id }) => user_id)
    const list = EMOJI.map((emoji) => ({ emoji, count: people.length, user_ids }))
    for (let from = 0; from < messages.length; from += 20)
      await write(async (tx) => {
        const ids = messages.slice(from, from + 20)
        let at = now()
        const rows = ids.flatMap((message_id) =>
          EMOJI.flatMap((emoji) => people.map(({ user_id }) => ({ message_id, user_id, emoji, at: at++ }))),
        )
        await insertReactions(tx, rows)
        await setReactionLists(
          tx,
          ids.map((id) => ({ id, list })),
        )
      })
  })
}
