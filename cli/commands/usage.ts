import { defineCommand as defineGroup } from 'citty'
import { OPERATOR } from '../../lib/core/actor.ts'
import type { Chat } from '../../lib/service.ts'
import { commonArgs, defineCommand, UsageError } from '../args/command.ts'
import { parseNumber } from '../args/number.ts'
import { resolveUserId, userArg } from '../args/user.ts'
import { oneLine, print, table } from '../output.ts'
import { withChat } from '../with-chat.ts'

/** What a report has a row for each of. */
const DIMENSIONS = ['user', 'assistant', 'model', 'day', 'conversation'] as const

const report = defineCommand({
  meta: { name: 'report', description: 'Show what the assistant has used' },
  example: 'chat-server usage report --by day --json',
  args: {
    by: { type: 'enum', options: [...DIMENSIONS], default: 'user', description: 'What each row is of' },
    from: { type: 'string', valueHint: 'date', description: 'The first day, in UTC; default: the first of the month' },
    to: { type: 'string', valueHint: 'date', description: 'The last day, in UTC; default: today' },
    limit: { type: 'string', valueHint: 'n', description: 'At most so many rows, 1 to 200; default: 50' },
    after: { type: 'string', valueHint: 'cursor', description: 'Continue after `next_after` of the page before' },
    csv: { type: 'boolean', description: 'Write the whole report as CSV for a spreadsheet, at most 10,000 rows' },
    ...commonArgs,
  },
  run: async ({ args }) => {
    if (args.csv && (args.json || args.limit !== undefined || args.after !== undefined))
      throw new UsageError('--csv is the whole report: leave --json, --limit and --after out')
    await withChat(
      args,
      async (chat) => {
        const { from, to, after } = args
        const by = args.by as (typeof DIMENSIONS)[number]
        if (args.csv) {
          const csv = await chat.usage.reportCsv(OPERATOR, { by, from, to })
          return print({}, undefined, csv.trimEnd())
        }
        const limit = parseNumber('limit', args.limit)
        const page = await chat.usage.report(OPERATOR, { by, from, to, after, limit })
        const rows = page.rows.map(({ key, answers, prompt_tokens, completion_tokens, tokens, cost_micros }) => [
          key || '-',
          ...[answers, prompt_tokens, completion_tokens, tokens].map(String),
          (cost_micros / 1_000_000).toFixed(6),
        ])
        const headings = [by.toUpperCase(), 'ANSWERS', 'PROMPT', 'COMPLETION', 'TOKENS', page.currency]
        const more = page.next_after === undefined ? '' : `\n--after ${page.next_after} has more.`
        print(args, page, rows.length > 0 ? `${table(headings, rows)}${more}` : 'Nothing was used.')
      },
      { readOnly: true },
    )
  },
})

const LIMITS = [
  ['day', 'answers'],
  ['day', 'tokens'],
  ['day', 'cost'],
  ['month', 'answers'],
  ['month', 'tokens'],
  ['month', 'cost'],
] as const

const limitArg = (period: string, unit: string) =>
  ({ type: 'string', valueHint: 'n', description: `Most ${unit} in a ${period}` }) as const

const quota = defineCommand({
  meta: {
    name: 'quota',
    description:
      'Set what a user may use of the assistant, instead of the quotas of the roles; without limits: show it',
  },
  example: 'chat-server usage quota grace --day-answers 20 --month-tokens 1000000 --json',
  args: {
    ...userArg,
    'day-answers': limitArg('day', 'answers'),
    'day-tokens': limitArg('day', 'tokens'),
    'day-cost': limitArg('day', 'cost in millionths of the currency'),
    'month-answers': limitArg('month', 'answers'),
    'month-tokens': limitArg('month', 'tokens'),
    'month-cost': limitArg('month', 'cost in millionths of the currency'),
    clear: { type: 'boolean', description: 'Let the quotas of the roles hold again' },
    ...commonArgs,
  },
  run: async ({ args }) => {
    const given = LIMITS.flatMap(([period, unit]) => {
      const limit = parseNumber(`${period}-${unit}`, args[`${period}-${unit}`])
      return limit === undefined ? [] : [{ period, unit: unit === 'cost' ? 'cost_micros' : unit, limit }]
    })
    if (args.clear && given.length > 0) throw new UsageError('--clear and limits exclude each other')
    await withChat(args, async (chat) => {
      const user_id = await resolveUserId(chat, args.user)
      if (args.clear) {
        await chat.usage.clearQuota(OPERATOR, user_id)
        return print(args, { user_id }, oneLine(`The quotas of the roles hold for ${args.user} again.`))
      }
      if (given.length === 0) {
        const state = await chat.usage.getQuota(OPERATOR, user_id)
        return print(args, { user_id, ...state }, quotaText(args.user, state))
      }
      const limits: Record<string, Record<string, number>> = {}
      for (const { period, unit, limit } of given) limits[period] = { ...limits[period], [unit]: limit }
      const set = await chat.usage.setQuota(OPERATOR, user_id, limits)
      print(args, { user_id, ...set }, oneLine(`${args.user} has a quota.`))
    })
  },
})

/** What a user may use, and whether that is the user's own quota. */
function quotaText(name: string, { quota, roles }: Awaited<ReturnType<Chat['usage']['getQuota']>>): string {
  const limits = Object.entries(quota ?? roles).flatMap(([period, each]) =>
    Object.entries(each).map(([unit, limit]) => `at most ${limit} ${unit} in a ${period}`),
  )
  const whose = quota ? 'by a quota of its own' : 'by the quotas of the roles'
  return [
    oneLine(`${name} may use, ${whose}:`),
    ...(limits.length > 0 ? limits : ['as much as the service allows']),
  ].join('\n')
}

export default defineGroup({
  meta: { name: 'usage', description: 'Show what the assistant has used, and limit it' },
  subCommands: { report, quota },
})
