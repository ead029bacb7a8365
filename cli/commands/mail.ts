import { defineCommand as defineGroup } from 'citty'
import { smtpSettings } from '../../lib/config/mail.ts'
import { OPERATOR } from '../../lib/core/actor.ts'
import { newId } from '../../lib/core/ids.ts'
import type { Message } from '../../lib/mail/delivery.ts'
import { isMailable } from '../../lib/mail/rules.ts'
import type { MailRecord } from '../../lib/mail/schema.ts'
import { commonArgs, defineCommand, UsageError } from '../args/command.ts'
import { named } from '../args/missing.ts'
import { morePagesHint, pageArgs, toPageInput } from '../args/paging.ts'
import { loadConfig } from '../config/load.ts'
import { oneLine, print, printNote, table } from '../output.ts'
import { withChat } from '../with-chat.ts'

const test = defineCommand({
  meta: { name: 'test', description: 'Send a mail with the configured mail server now' },
  example: 'chat-server mail test ada@example.org',
  args: {
    address: { type: 'positional', required: true, valueHint: 'address', description: 'Address that gets the mail' },
    ...commonArgs,
  },
  run: async ({ args }) => {
    const { config, warnings } = loadConfig(args)
    warnings.forEach(printNote)
    const settings = smtpSettings(config)
    if (!settings) throw new Error('no mail server is configured: set mail.smtp.url and mail.smtp.from')
    if (!isMailable(args.address)) throw new UsageError(`no mail can be sent to "${args.address}"`)
    const { loadSmtp } = await import('../../lib/mail/smtp.ts')
    const smtp = await loadSmtp(settings)
    const mail = testMail(args.address)
    const result = await smtp.deliver(async () => mail, new AbortController().signal)
    if ('reason' in result) throw new Error(`${settings.host}:${settings.port} did not take the mail: ${result.reason}`)
    const sent = { to: args.address, message_id: mail.id, server: `${settings.host}:${settings.port}` }
    print(
      args,
      sent,
      oneLine(`${sent.server} has taken a mail to ${args.address}. Look into the mailbox, and its spam.`),
    )
  },
})

function testMail(to: string): Message {
  const text = 'The mail server of the chat service works.\n'
  return { id: newId(), kind: 'test', to, subject: 'A test of the chat service', text, token: '' }
}

const list = defineCommand({
  meta: { name: 'list', description: 'List the mails that wait or were given up' },
  example: 'chat-server mail queue list',
  args: { ...pageArgs, ...commonArgs },
  run: ({ args }) =>
    withChat(args, async (chat) => {
      const page = await chat.mails.list(OPERATOR, toPageInput(args))
      print(
        args,
        page,
        table(['ID', 'MAIL', 'STATUS', 'TRIES', 'NEXT', 'CAUSE'], page.mails.map(toRow)) + morePagesHint(page),
      )
    }),
})

function toRow({ id, kind, status, tries, next_at, cause = '' }: MailRecord): string[] {
  return [id, kind, status, String(tries), status === 'waiting' ? next_at : '', cause]
}

const chosenArgs = {
  id: { type: 'string', description: 'Id from `mail queue list`' },
  all: { type: 'boolean', description: 'All mails of the queue' },
  ...commonArgs,
} as const

/** @throws UsageError unless it is one of the two */
function chosenOf({ id, all }: { id?: string | undefined; all?: boolean | undefined }): { id?: string } {
  if ((id === undefined) === (all !== true)) throw new UsageError('use exactly one of --id and --all')
  return id === undefined ? {} : { id }
}

const retry = defineCommand({
  meta: { name: 'retry', description: 'Have mails tried again at once, also those that were given up' },
  example: 'chat-server mail queue retry --all',
  args: chosenArgs,
  run: ({ args }) => {
    const chosen = chosenOf(args)
    return withChat(args, async (chat) => {
      const done = await named('mail', chosen.id ?? '', chat.mails.retry(OPERATOR, chosen))
      print(args, done, `The service tries ${done.retried} within a few seconds, while it runs.`)
    })
  },
})

const drop = defineCommand({
  meta: { name: 'drop', description: 'Delete mails of the queue unsent' },
  example: 'chat-server mail queue drop --all',
  args: chosenArgs,
  run: ({ args }) => {
    const chosen = chosenOf(args)
    return withChat(args, async (chat) => {
      const done = await named('mail', chosen.id ?? '', chat.mails.drop(OPERATOR, chosen))
      print(args, done, `${done.dropped} deleted.`)
    })
  },
})

const queue = defineGroup({
  meta: { name: 'queue', description: 'List, retry and delete the mails that wait or were given up' },
  subCommands: { list, retry, drop },
})

export default defineGroup({
  meta: { name: 'mail', description: 'Test the mail server, and look after the queue of mails' },
  subCommands: { test, queue },
})
