import { describe, expect, it } from 'vitest'
import type { Command, CommandOption } from '../../lib/api/client-entities.ts'
import { type ParsedCommand, parseCommand } from '../../lib/client/index.ts'

const BOT = { id: '01890a5d-ac96-774b-bcce-b302099a8057', username: 'deploys', kind: 'bot' as const }
const OTHER = { id: '01890a5d-ac96-774b-bcce-b302099a8058', username: 'Deploy Bot', kind: 'bot' as const }
const ADA = { id: '01890a5d-ac96-774b-bcce-b302099a8059', username: 'Ada' }

const option = (name: string, type: CommandOption['type'], more: Partial<CommandOption> = {}): CommandOption => ({
  name,
  description: `The ${name}`,
  type,
  ...more,
})
const command = (name: string, options?: CommandOption[], bot = BOT): Command => ({
  name,
  description: name,
  ...(options && { options }),
  bot,
})

const COMMANDS = [
  command('help'),
  command('deploy', [
    option('version', 'string', { required: true }),
    option('times', 'integer'),
    option('place', 'string', { choices: ['staging', 'New York'] }),
    option('dry', 'boolean'),
    option('for', 'user'),
  ]),
  command('remind', [option('who', 'user', { required: true }), option('text', 'string', { required: true })]),
  command('roll', [option('sides', 'integer', { choices: [6, 20] }), option('bonus', 'number')]),
  command('status', []),
  command('status', [option('note', 'string')], OTHER),
]

const parse = (line: string) => parseCommand(line, COMMANDS, [ADA])

describe('a line that calls a command has the values of its options', () => {
  const LINES: [string, ParsedCommand['options']][] = [
    ['/help', {}],
    ['/HELP  ', {}],
    ['/deploy 42', { version: '42' }],
    ['/deploy 42 2 staging yes @ada', { version: '42', times: 2, place: 'staging', dry: true, for: ADA.id }],
    ['/deploy 42 2 "new york" off', { version: '42', times: 2, place: 'New York', dry: false }],
    ['/deploy version:42 place:STAGING', { version: '42', place: 'staging' }],
    ['/deploy place:staging 42', { version: '42', place: 'staging' }],
    ['/deploy 42 place:"New York" dry:true', { version: '42', place: 'New York', dry: true }],
    ['/deploy version:42 2 staging', { version: '42', times: 2, place: 'staging' }],
    ['/deploy what I wrote on Monday', { version: 'what I wrote on Monday' }],
    ['/deploy what I wrote times:2 on Monday', { version: 'what I wrote on Monday', times: 2 }],
    ['/deploy version:what I wrote times:2', { version: 'what I wrote', times: 2 }],
    [`/deploy 42 for:${ADA.id.toUpperCase()}`, { version: '42', for: ADA.id }],
    ['/deploy ""', { version: '' }],
    ['/remind @ada  call mum,  please', { who: ADA.id, text: 'call mum,  please' }],
    ['/remind @ada call mum\nand dad', { who: ADA.id, text: 'call mum\nand dad' }],
    ['/remind text:call mum who:ada', { who: ADA.id, text: 'call mum' }],
    ['/remind who:ada text:"a who:b" ', { who: ADA.id, text: 'a who:b' }],
    ["/remind ada don't say 'hello'", { who: ADA.id, text: "don't say 'hello'" }],
    ['/remind ada “say "hi"”', { who: ADA.id, text: 'say "hi"' }],
    ['/remind ada "say \\"hi\\" \\\\ twice"', { who: ADA.id, text: 'say "hi" \\ twice' }],
    ['/remind ada text: with a space', { who: ADA.id, text: 'text: with a space' }],
    ['/remind ada https://example.org:80/a?who:b', { who: ADA.id, text: 'https://example.org:80/a?who:b' }],
    ['/remind ada „heute Abend“', { who: ADA.id, text: 'heute Abend' }],
    ['/roll 20 -1.5', { sides: 20, bonus: -1.5 }],
    ['/roll bonus:.5', { bonus: 0.5 }],
  ]
  it.each(LINES)('%s', (line, options) => {
    const parsed = parse(line)
    expect(parsed?.problems).toEqual([])
    expect(parsed?.options).toEqual(options)
    expect(parsed?.call).toEqual({ bot_id: BOT.id, name: parsed!.name, options })
  })
})

describe('a line that cannot be called names its problem', () => {
  const LINES: [string, string, string?][] = [
    ['/nothing', 'unknown_command'],
    ['/status', 'ambiguous_command'],
    ['/status@nobody', 'unknown_command'],
    ['/deploy', 'missing_option', 'version'],
    ['/deploy times:2', 'missing_option', 'version'],
    ['/remind ada', 'missing_option', 'text'],
    ['/deploy 42 times:two', 'wrong_type', 'times'],
    ['/deploy 42 times:1.5', 'wrong_type', 'times'],
    ['/deploy 42 times:99999999999999999999', 'wrong_type', 'times'],
    ['/deploy 42 dry:perhaps', 'wrong_type', 'dry'],
    ['/deploy 42 dry:constructor', 'wrong_type', 'dry'],
    ['/deploy 42 place:moon', 'no_choice', 'place'],
    ['/roll 7', 'no_choice', 'sides'],
    ['/remind grace hello', 'wrong_type', 'who'],
    ['/deploy 42 dry:no dry:yes', 'repeated_option', 'dry'],
    ['/help me', 'unexpected_text'],
    ['/roll 6 1 2', 'unexpected_text'],
    ['/remind ada "call mum', 'open_quote'],
  ]
  it.each(LINES)('%s', (line, code, name) => {
    const parsed = parse(line)!
    expect(parsed.problems[0]).toMatchObject({ code, ...(name && { option: { name } }) })
    expect(parsed).not.toHaveProperty('call')
  })

  it('in words, with what may be given', () => {
    const messages = (line: string) => parse(line)!.problems.map(({ message }) => message)
    expect(messages('/deploy times:x place:moon')).toEqual([
      '"version" is missing: The version',
      '"times" must be a whole number.',
      '"place" must be one of staging, New York.',
    ])
    expect(messages('/status')).toEqual(['Choose one of /status@deploys, /status@Deploy Bot.'])
  })
})

it('one of two programs is chosen by its name, also if that has a space', () => {
  expect(parse('/status@deploys')?.call).toEqual({ bot_id: BOT.id, name: 'status', options: {} })
  const call = { bot_id: OTHER.id, name: 'status', options: { note: 'all well' } }
  expect(parse('/status@deploy bot all well')?.call).toEqual(call)
})

it.each(['hello', '', '/', '/ help', ' /help', '//help', '/usr/bin', '/hélp', `/${'a'.repeat(33)}`])(
  '%j is no command',
  (line) => expect(parse(line)).toBeUndefined(),
)

it.each(['"a ', 'a ', 'text:a ', '"a" '])('a long line of %j is read in time that grows with its length', (part) => {
  const begun = performance.now()
  parse(`/remind ada ${part.repeat(20_000)}`)
  parse(`/deploy version:a ${part.repeat(20_000)}`)
  expect(performance.now() - begun).toBeLessThan(2_000)
})
