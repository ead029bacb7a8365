import type { App } from '../app/context.ts'
import type { OfferedAssistant } from '../app/offered-assistant.ts'
import { nameOf, type Person } from '../app/people.ts'
import { composeTexts } from '../texts/compose.ts'
import { type MentionChoice, matching } from './mention-query.ts'

/**
 * The assistants that may be asked and the participants of a conversation whose names begin so, and all together where the
 * policy allows that.
 *
 * @param further participants that were found by the query, where not all are read
 */
export function mentionChoices(
  { people, store, session }: App,
  conversation_id: string,
  query: string,
  offered: readonly OfferedAssistant[],
  further: readonly Person[],
): readonly MentionChoice[] {
  const known = new Map([...people.of(conversation_id), ...further].map((person) => [person.user_id, person]))
  const others = [...known.values()]
    .filter(({ user_id }) => user_id !== session.user.value?.id)
    .map((person) => ({ id: person.user_id, username: person.username, name: nameOf(person) }))
  const conversation = store.conversations.getSnapshot().conversations.find(({ id }) => id === conversation_id)
  const all: MentionChoice = { id: 'all', username: 'all', name: composeTexts.value.completion.everyone }
  // The key of an assistant is the username of no participant.
  const assistants = offered.map((each) => ({
    id: `assistant ${each.key ?? ''}`,
    ...(each.key !== undefined && { username: each.key }),
    name: each.title,
    assistant: each,
  }))
  const everyone = conversation && mayMentionAll(conversation) ? [all] : []
  return matching([...assistants, ...others, ...everyone], query)
}

function mayMentionAll({
  policy,
  role,
  direct,
}: {
  policy: { mention_all: string }
  role: string
  direct?: boolean
}): boolean {
  const rank = ROLES.indexOf(role)
  return !direct && policy.mention_all !== 'nobody' && rank >= LEAST.indexOf(policy.mention_all)
}

/** The roles, and the value of a policy that each is the least of. */
const ROLES = ['viewer', 'member', 'moderator', 'admin', 'owner']
const LEAST = ['everyone', 'members', 'moderators', 'admins', 'owners']
