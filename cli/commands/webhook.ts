import { defineCommand as defineGroup } from 'citty'
import { OPERATOR } from '../../lib/core/actor.ts'
import type { CallOutcome, WebhookChanges } from '../../lib/integrations/webhooks/schema.ts'
import type { DeliveryStatus } from '../../lib/integrations/webhooks/schema-deliveries.ts'
import { commonArgs, defineCommand, UsageError, valuesOf } from '../args/command.ts'
import { morePagesHint, pageArgs, toPageInput } from '../args/paging.ts'
import { resolveUserId } from '../args/user.ts'
import { print, printNote, table } from '../output.ts'
import { withChat } from '../with-chat.ts'

const webhookArg = {
  id: { type: 'positional', required: true, valueHint: 'id', description: 'Id from `webhook list`' },
} as const

const settingArgs = {
  types: { type: 'string', valueHint: 'list', description: 'Types of events, separated by commas, such as message.*' },
  conversation: { type: 'string', valueHint: 'id', description: 'Only the events of this conversation' },
  only: {
    type: 'string',
    valueHint: 'which',
    description: 'all messages, or those that the owner is notified of: notified',
  },
  bots: { type: 'boolean', description: 'Also what other bots and hooks write' },
  'no-bots': { type: 'boolean', description: 'Nothing that other bots and hooks write' },
  payload: { type: 'string', valueHint: 'kind', description: 'full, or thin: ids, numbers and instants' },
  signature: { type: 'string', valueHint: 'kind', description: 'v1 (a secret) or v1a (a public key)' },
  order: { type: 'string', valueHint: 'order', description: 'none, or conversation: one event after another in each' },
  parallel: { type: 'string', valueHint: 'number', description: 'Calls at a time, 1 to 16' },
  header: {
    type: 'string',
    valueHint: 'header',
    description: 'A header of each call, as "Authorization: Bearer …"; five at most',
  },
  description: { type: 'string', description: 'What it is for' },
  since: { type: 'string', valueHint: 'instant', description: 'The instant or position from which events are sent' },
} as const

interface Settings {
  types?: string
  conversation?: string
  only?: string
  bots?: boolean
  payload?: string
  signature?: string
  order?: string
  parallel?: string
  description?: string
  since?: string
}

/** What the flags say. The service refuses values that are none. */
function settingsOf(args: Settings, headers: string[]) {
  const { types, conversation, only, bots, payload, signature, order, parallel, description, since } = args
  return {
    types: types?.split(','),
    conversation_id: conversation,
    only: only as WebhookChanges['only'],
    bots,
    payload: payload as WebhookChanges['payload'],
    signature: signature as WebhookChanges['signature'],
    order: order as WebhookChanges['order'],
    parallel: parallel === undefined ? undefined : Number(parallel),
    headers: headers.length === 0 ? undefined : Object.fromEntries(headers.map(toHeader)),
    description,
    since,
  }
}

function toHeader(header: string): [name: string, value: string] {
  const at = header.indexOf(':')
  if (at < 1) throw new UsageError('--header is "Name: value"')
  return [header.slice(0, at).trim(), header.slice(at + 1).trim()]
}

const create = defineCommand({
  meta: { name: 'create', description: 'Make a webhook of all conversations, or of a bot' },
  example: 'chat-server webhook create --url https://crm.example.org/events --types message.* --json',
  args: {
    url: { type: 'string', required: true, valueHint: 'url', description: 'The https URL that is called' },
    bot: { type: 'string', valueHint: 'name', description: 'Username or id of the bot whose events it gets' },
    content: { type: 'boolean', description: 'Send texts too; without it, ids, numbers and instants' },
    ...settingArgs,
    ...commonArgs,
  },
  run: ({ args, rawArgs, cmd }) =>
    withChat(args, async (chat) => {
      const created = await chat.webhooks.create(OPERATOR, {
        ...settingsOf(args, valuesOf('header', { rawArgs, cmd })),
        url: args.url,
        bot_id: args.bot === undefined ? undefined : await resolveUserId(chat, args.bot),
        content: args.content,
      })
      if (!args.json && created.secret) printNote('The secret is shown only once.')
      print(args, created, created.secret ?? created.webhook.public_key ?? created.webhook.id)
    }),
})

const list = defineCommand({
  meta: { name: 'list', description: 'List the webhooks of all users, oldest first' },
  example: 'chat-server webhook list --json',
  args: { ...pageArgs, ...commonArgs },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const page = await chat.webhooks.list(OPERATOR, toPageInput(args))
      const rows = page.webhooks.map(({ id, url, status, disabled_reason = '', parked, user_id = 'operator' }) => [
        id,
        status,
        disabled_reason,
        String(parked),
        user_id,
        url,
      ])
      print(args, page, table(['ID', 'STATUS', 'REASON', 'PARKED', 'OWNER', 'URL'], rows) + morePagesHint(page))
    }),
})

const set = defineCommand({
  meta: { name: 'set', description: 'Change, disable or enable a webhook' },
  example: 'chat-server webhook set 01980a3c-7000-7a10-8b20-0c4f1d2e3a51 --parallel 2 --json',
  args: {
    ...webhookArg,
    url: { type: 'string', valueHint: 'url', description: 'Another URL, which must return a challenge' },
    ...settingArgs,
    disable: { type: 'boolean', description: 'Send nothing; only the operator and administrators enable it again' },
    enable: { type: 'boolean', description: 'Send events again' },
    ...commonArgs,
  },
  run: async ({ args, rawArgs, cmd }) => {
    const { url, disable, enable } = args
    if (disable && enable) throw new UsageError('--disable and --enable exclude each other')
    const enabled = disable ? false : enable ? true : undefined
    const conversation = args.conversation === '' ? { conversation_id: null } : {}
    const changes = { ...settingsOf(args, valuesOf('header', { rawArgs, cmd })), ...conversation, url, enabled }
    if (Object.values(changes).every((value) => value === undefined))
      throw new UsageError('name what to change, such as --disable; --help lists it all')
    await withChat(args, async (chat) => {
      const changed = await chat.webhooks.change(OPERATOR, args.id, changes)
      print(args, changed, `The webhook is ${changed.webhook.status}.`)
    })
  },
})

const remove = defineCommand({
  meta: { name: 'delete', description: 'Delete a webhook: nothing more is sent' },
  example: 'chat-server webhook delete 01980a3c-7000-7a10-8b20-0c4f1d2e3a51 --json',
  args: { ...webhookArg, ...commonArgs },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      await chat.webhooks.remove(OPERATOR, args.id)
      print(args, { webhook_id: args.id }, `Deleted: no webhook has the id ${args.id} any more.`)
    }),
})

/** What a call of a URL brought, in one line. */
function outcomeText({ status, ms, error }: CallOutcome): string {
  const answer = status === undefined ? 'no answer' : `status ${status}`
  return error === undefined ? `It returned ${answer} after ${ms} ms.` : `It failed (${error}): ${answer}, ${ms} ms.`
}

const verify = defineCommand({
  meta: { name: 'verify', description: 'Send a challenge to a webhook, which must return it' },
  example: 'chat-server webhook verify 01980a3c-7000-7a10-8b20-0c4f1d2e3a51 --json',
  args: { ...webhookArg, ...commonArgs },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const outcome = await chat.webhooks.verify(OPERATOR, args.id)
      print(args, outcome, outcomeText(outcome))
    }),
})

const test = defineCommand({
  meta: { name: 'test', description: 'Send a test event to a webhook' },
  example: 'chat-server webhook test 01980a3c-7000-7a10-8b20-0c4f1d2e3a51 --json',
  args: { ...webhookArg, ...commonArgs },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const outcome = await chat.webhooks.test(OPERATOR, args.id)
      print(args, outcome, outcomeText(outcome))
    }),
})

const rotate = defineCommand({
  meta: { name: 'rotate', description: 'Replace the secret of a webhook; the former one signs too for a day' },
  example: 'chat-server webhook rotate 01980a3c-7000-7a10-8b20-0c4f1d2e3a51 --json',
  args: { ...webhookArg, ...commonArgs },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const rotated = await chat.webhooks.rotate(OPERATOR, args.id)
      if (!args.json && rotated.secret) printNote('The secret is shown only once.')
      print(args, rotated, rotated.secret ?? rotated.public_key ?? '')
    }),
})

const deliveries = defineCommand({
  meta: { name: 'deliveries', description: 'List what became of the events of a webhook, newest first' },
  example: 'chat-server webhook deliveries 01980a3c-7000-7a10-8b20-0c4f1d2e3a51 --json',
  args: {
    ...webhookArg,
    status: { type: 'string', valueHint: 'status', description: 'Only those that are pending, delivered or dead' },
    ...pageArgs,
    ...commonArgs,
  },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const page = await chat.webhooks.listDeliveries(OPERATOR, args.id, {
        status: args.status as DeliveryStatus | undefined,
        ...toPageInput(args),
      })
      const rows = page.deliveries.map(({ id, status, type, at, attempts, next_at = '' }) => {
        const last = attempts.at(-1)
        return [id, status, type, at, String(attempts.length), last?.error ?? String(last?.status ?? ''), next_at]
      })
      const headings = ['ID', 'STATUS', 'TYPE', 'HAPPENED', 'ATTEMPTS', 'LAST', 'NEXT']
      print(args, page, table(headings, rows) + morePagesHint(page))
    }),
})

const replay = defineCommand({
  meta: { name: 'replay', description: 'Send events to a webhook again' },
  example: 'chat-server webhook replay 01980a3c-7000-7a10-8b20-0c4f1d2e3a51 --since $(date -u +%FT%TZ) --json',
  args: {
    ...webhookArg,
    since: { type: 'string', valueHint: 'instant', description: 'All that came after this instant or position' },
    delivery: { type: 'string', valueHint: 'id', description: 'The event of this delivery alone' },
    ...commonArgs,
  },
  run: async ({ args }) => {
    const { id, since, delivery } = args
    if ((since === undefined) === (delivery === undefined)) throw new UsageError('name either --since or --delivery')
    await withChat(args, async (chat) => {
      if (delivery !== undefined) await chat.webhooks.replayDelivery(OPERATOR, id, delivery)
      else await chat.webhooks.replay(OPERATOR, id, { since: since! })
      print(args, { webhook_id: id }, 'A running service sends the events again.')
    })
  },
})

export default defineGroup({
  meta: { name: 'webhook', description: 'Have events sent to URLs, and manage the webhooks of all users' },
  subCommands: { create, list, set, delete: remove, verify, test, rotate, deliveries, replay },
})
