import { commandsOf } from 'chat-server/client/parts'
import type { App } from '../app/context.ts'
import { nameOf } from '../app/people.ts'
import { parseCall } from './options.ts'

/** What has become of a text that calls a command. */
export type CallResult = 'called' | 'unknown' | 'refused'

/**
 * Calls the command of a text, by the commands as they are now.
 *
 * @throws ChatError if they cannot be read, or the service refuses the call
 */
export async function callCommand(
  { store, client, people }: App,
  { conversation_id, root_id, text }: { conversation_id: string; root_id: string | undefined; text: string },
): Promise<CallResult> {
  const { commands } = await client.commands.list(conversation_id)
  const parsed = parseCall(text, commands, namesIn(people, conversation_id))
  if (!parsed?.call) return parsed?.problems[0]?.code === 'unknown_command' ? 'unknown' : 'refused'
  await commandsOf(store).invoke(conversation_id, { ...parsed.call, ...(root_id !== undefined && { root_id }) })
  return 'called'
}

/** Participants by their usernames, which stand for their ids in a call. */
export function namesIn(people: App['people'], conversation_id: string) {
  return people.of(conversation_id).map((person) => {
    return { id: person.user_id, username: person.username, name: nameOf(person) }
  })
}
