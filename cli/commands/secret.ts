import { defineCommand as defineGroup } from 'citty'
import type { Config } from '../../lib/config/parse.ts'
import { OPERATOR } from '../../lib/core/actor.ts'
import type { SecretState } from '../../lib/ops/secrets/schema.ts'
import { commonArgs, defineCommand } from '../args/command.ts'
import { type ConfigFlags, loadConfig } from '../config/load.ts'
import { oneLine, print } from '../output.ts'
import { withChat } from '../with-chat.ts'

const status = defineCommand({
  meta: { name: 'status', description: 'Show whether anything that is encrypted needs a former key of the service' },
  example: 'chat-server secret status',
  args: commonArgs,
  run: ({ args }) => withChat(args, async (chat) => show(args, await chat.ops.secretState(OPERATOR))),
})

const rotate = defineCommand({
  meta: { name: 'rotate', description: 'Encrypt anew what a former key has encrypted, beside the running service' },
  example: 'chat-server secret rotate',
  args: commonArgs,
  run: ({ args }) => withChat(args, async (chat) => show(args, await chat.ops.rotateSecret(OPERATOR))),
})

function show(args: ConfigFlags & { json?: boolean | undefined }, state: SecretState): void {
  print(args, state, sentenceOf(state, loadConfig(args).config.security))
}

function sentenceOf(state: SecretState, { previous_secret_keys }: Config['security']): string {
  const { values, old, lost, rotating } = state
  const need = old === 0 ? 'None of them needs a former key.' : `${old} of them need a former key.`
  const gone = lost === 0 ? '' : ` No key opens ${lost} of them.`
  const done =
    !rotating && old === 0 && previous_secret_keys.length > 0
      ? ' What a former key has signed is taken for a day: then remove it from security.previous_secret_keys.'
      : ''
  return oneLine(`${values} values are encrypted. ${need}${gone}${workOf(state)}${done}`)
}

/** What the running service does, or has to be told to do. */
function workOf({ old, in_database, rotating, waiting_until }: SecretState): string {
  if (!rotating) return old === 0 ? '' : ' "chat-server secret rotate" has the running service encrypt them anew.'
  if (waiting_until !== undefined)
    return ` The running service has another key than the one with which this was asked, and waits for it until ${waiting_until}: reload each node with it.`
  if (!in_database) return ' The running service encrypts them anew.'
  return ' The running service makes a new key in the database the first, encrypts anew, and removes the former one after a day.'
}

export default defineGroup({
  meta: { name: 'secret', description: 'Replace the key of the service' },
  subCommands: { status, rotate },
})
