import { describe, expect, it } from 'vitest'
import {
  finishedProblems,
  offeredOptions,
  optionEdit,
  optionQueryOf,
  parseCall,
  waitingOption,
} from '../../../examples/web-chat/src/commands/options.ts'
import type { Command, CommandOption } from '../../../lib/api/client-entities.ts'

const BOT = { id: '01890a5d-ac96-774b-bcce-b302099a8057', username: 'deploys', kind: 'bot' as const }
const ADA = { id: '01890a5d-ac96-774b-bcce-b302099a8059', username: 'ada', name: 'Ada Lovelace' }
const GRACE = { id: '01890a5d-ac96-774b-bcce-b302099a8060', username: 'Grace H', name: 'Grace Hopper' }
const PEOPLE = [ADA, GRACE]

const option = (name: string, type: CommandOption['type'], more: Partial<CommandOption> = {}): CommandOption => ({
  name,
  description: `The ${name}`,
  type,
  ...more,
})

const COMMANDS: Command[] = [
  { name: 'help', description: 'help', bot: BOT },
  {
    name: 'deploy',
    description: 'deploy',
    bot: BOT,
    options: [
      option('version', 'string', { required: true }),
      option('place', 'string', { choices: ['staging', 'New York'] }),
      option('dry', 'boolean'),
      option('for', 'user'),
    ],
  },
  {
    name: 'remind',
    description: 'remind',
    bot: BOT,
    options: [option('who', 'user', { required: true }), option('text', 'string', { required: true })],
  },
  { name: 'roll', description: 'roll', bot: BOT, options: [option('sides', 'integer', { choices: [6, 20] })] },
]

/** What is offered at the end of a line, or at a bar in it. */
function offered(marked: string): string[] {
  const caret = marked.includes('|') ? marked.indexOf('|') : marked.length
  const query = optionQueryOf(marked.replace('|', ''), caret)
  if (!query) return []
  return offeredOptions(query, COMMANDS, PEOPLE).map(({ option, value = '' }) => `${option.name}:${value}`)
}

describe('behind the name of a command', () => {
  it.each<[string, string[]]>([
    ['/deploy ', ['version:', 'place:', 'dry:', 'for:']],
    ['/deploy p', ['place:']],
    ['/deploy 42', []],
    ['/deploy 42 ', ['place:staging', 'place:New York', 'dry:', 'for:']],
    ['/deploy 42 sta', ['place:staging']],
    ['/deploy 42 YORK', ['place:New York']],
    ['/deploy 42 d', ['dry:']],
    ['/deploy place:staging ', ['version:', 'dry:', 'for:']],
    ['/deploy place:', ['place:staging', 'place:New York']],
    ['/deploy place:"New Y', ['place:New York']],
    ['/deploy place:moon ', ['version:', 'dry:', 'for:']],
    ['/deploy 42 staging ', ['dry:true', 'dry:false', 'for:']],
    ['/deploy 42 dry:', ['dry:true', 'dry:false']],
    ['/deploy dry:true 42 staging ', ['for:@ada', 'for:@Grace H']],
    ['/deploy 42 for:lov', ['for:@ada']],
    ['/deploy 42 for:@gr', ['for:@Grace H']],
    ['/remind ', ['who:@ada', 'who:@Grace H', 'text:']],
    ['/remind @a', ['who:@ada']],
    ['/remind ada ', ['text:']],
    ['/remind ada call ', []],
    ['/remind ada "call ', []],
    ['/roll 2', ['sides:20']],
    ['/roll 20', []],
    ['/roll | and more', ['sides:6', 'sides:20']],
    ['/roll 2|0', []],
    ['/help ', []],
    ['/nothing ', []],
    ['/hel', []],
    ['/deploy', []],
    ['hello ', []],
  ])('%j offers %j', (line, expected) => {
    expect(offered(line)).toEqual(expected)
  })

  it('what is taken stands in the place of what was typed, in quotes where it needs them', () => {
    const taken = (line: string, caret = line.length) => {
      const query = optionQueryOf(line, caret)!
      const { from, to, text, start } = optionEdit(query, offeredOptions(query, COMMANDS, PEOPLE)[0]!)
      const changed = line.slice(0, from) + text + line.slice(to)
      return `${changed.slice(0, start)}|${changed.slice(start)}`
    }
    expect(taken('/deploy ver')).toBe('/deploy version:|')
    expect(taken('/deploy 42 st')).toBe('/deploy 42 place:staging |')
    expect(taken('/deploy 42 place:"new')).toBe('/deploy 42 place:"New York" |')
    expect(taken('/remind gra')).toBe('/remind who:"@Grace H" |')
    expect(taken('/roll  and', 6)).toBe('/roll sides:6 |and')
    for (const line of ['/deploy 42 place:"New York" ', '/remind who:"@Grace H" call'])
      expect(parseCall(line, COMMANDS, PEOPLE)?.problems).toEqual([])
  })
})

describe('a name at the end of a call', () => {
  it.each(['/deploy version:', '/deploy 42 place: ', '/remind ada text:'])('%j waits for its value', (line) => {
    const { call, problems } = parseCall(line, COMMANDS, PEOPLE)!
    expect(call).toBeUndefined()
    expect(problems).toContainEqual(
      expect.objectContaining({ code: 'missing_option', option: waitingOption(line, COMMANDS, PEOPLE)!.option }),
    )
  })

  it.each(['/remind ada mind the text:', '/remind ada call mum: now', '/deploy "the version:"'])(
    'is text where %j has a value already',
    (line) => {
      expect(waitingOption(line, COMMANDS, PEOPLE)).toBeUndefined()
      expect(parseCall(line, COMMANDS, PEOPLE)!.call).toBeDefined()
    },
  )
})

it.each<[string, string[]]>([
  ['/deploy 42 place:moon', []],
  ['/deploy 42 place:moon ', ['no_choice']],
  ['/deploy place:moon dry:perhaps ', ['no_choice', 'wrong_type']],
  ['/deploy 42 dry:no dry:yes ', ['repeated_option']],
  ['/help me ', ['unexpected_text']],
  ['/deploy ', []],
  ['/deploy 42 place:"New Yo', []],
  ['/remind ada "call ', []],
  ['/nothing at all', []],
])('of %j, these words are wrong already: %j', (line, codes) => {
  expect(finishedProblems(line, COMMANDS, PEOPLE).map(({ code }) => code)).toEqual(codes)
})
