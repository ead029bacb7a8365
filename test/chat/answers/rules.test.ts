import { describe, expect, it } from 'vitest'
import { type Ancestor, onPath, toTurns, writersOf } from '../../../lib/chat/answers/rules-context.ts'
import { pathsDownTo } from '../../../lib/chat/messages/rules.ts'
import { wholeLength } from '../../../lib/core/whole-text.ts'

const says = (content: string, more: Partial<Ancestor> = {}): Ancestor => ({
  role: 'user',
  posted_by: 'ada',
  content,
  prompt: null,
  deleted_at: null,
  ...more,
})
const answers = (prompt: string, content: string): Ancestor => says(content, { role: 'assistant', prompt })

describe('the turns that an answer continues', () => {
  it('are the prompts and texts on the path, the new prompt last', () => {
    const path = [says('Hello'), answers('Who?', 'I am.'), answers('Why?', '')]
    expect(toTurns(path, { bytes: 1000 })).toEqual([
      { role: 'user', content: 'Hello', user_id: 'ada' },
      { role: 'user', content: 'Who?', user_id: 'ada' },
      { role: 'assistant', content: 'I am.' },
      { role: 'user', content: 'Why?', user_id: 'ada' },
    ])
  })

  it('have what a message quotes before it, line by line', () => {
    const quoted = (path: Ancestor, content: string, posted_by: string | null) => ({
      ...path,
      quoted_text: { content, posted_by },
    })
    const path = [quoted(says('Hello'), 'one\r\ntwo\n', 'grace'), quoted(answers('Why?', ''), 'an answer', null)]
    expect(toTurns(path, { bytes: 1000 })).toEqual([
      { role: 'user', content: '> one\n> two\n> ', user_id: 'grace' },
      { role: 'user', content: 'Hello', user_id: 'ada' },
      { role: 'user', content: '> an answer' },
      { role: 'user', content: 'Why?', user_id: 'ada' },
    ])
    const gone = quoted(says('gone', { deleted_at: 1 }), 'one', 'grace')
    expect(toTurns([gone, answers('Why?', '')], { bytes: 1000 })).toHaveLength(1)
  })

  it('begin with the system prompt, if there is one', () => {
    expect(toTurns([answers('Why?', '')], { bytes: 1000, system_prompt: 'Be brief.' })[0]).toEqual({
      role: 'system',
      content: 'Be brief.',
    })
  })

  it('leave out deleted messages, and the ids of deleted users', () => {
    const path = [says('gone', { deleted_at: 1 }), says('orphan', { posted_by: null }), answers('Why?', '')]
    expect(toTurns(path, { bytes: 1000 })).toEqual([
      { role: 'user', content: 'orphan' },
      { role: 'user', content: 'Why?', user_id: 'ada' },
    ])
  })

  it.each([
    [10, ['bbbb', 'cccc', 'dd']],
    [9, ['cccc', 'dd']],
    [2, ['dd']],
    [1, ['dd']],
  ])('is cut to %i bytes from the oldest side, but for the prompt', (bytes, contents) => {
    const path = [says('aaaaa'), says('bbbb'), says('cccc'), answers('dd', '')]
    expect(toTurns(path, { bytes }).map((turn) => turn.content)).toEqual(contents)
  })

  it('are measured in bytes of UTF-8', () => {
    expect(toTurns([says('ééé'), answers('x', '')], { bytes: 6 })).toHaveLength(1)
    expect(toTurns([says('ééé'), answers('x', '')], { bytes: 7 })).toHaveLength(2)
  })
})

it('begin with the names of users that are known, the question too', () => {
  const names = new Map([['ada', 'Ada Lovelace']])
  const path = [says('Hello', { posted_by: 'grace' }), answers('Who?', 'I am.'), answers('Why?', '')]
  expect(toTurns(path, { bytes: 1000, names })).toEqual([
    { role: 'user', content: 'Hello', user_id: 'grace' },
    { role: 'user', content: 'Ada Lovelace: Who?', name: 'Ada Lovelace', user_id: 'ada' },
    { role: 'assistant', content: 'I am.' },
    { role: 'user', content: 'Ada Lovelace: Why?', name: 'Ada Lovelace', user_id: 'ada' },
  ])
})

it.each([
  ['auto', [says('x'), answers('y', '')], []],
  ['auto', [says('x'), says('z', { posted_by: 'grace' }), answers('y', '')], ['ada', 'grace']],
  ['auto', [says('x', { role: 'system', posted_by: 'host' }), answers('y', '')], []],
  ['auto', [says('z', { posted_by: 'grace', deleted_at: 1 }), answers('y', '')], []],
  ['always', [answers('y', '')], ['ada']],
  ['never', [says('z', { posted_by: 'grace' }), answers('y', '')], []],
] as const)('are named %s', (names, messages, writers) => {
  expect(writersOf(messages, names)).toEqual(writers)
})

describe('the messages of a thread before an answer', () => {
  const at = (id: string, path: string, variant_of: string | null = null) => ({ id, root_id: 'r', path, variant_of })
  const ids = (messages: { id: string }[]) => messages.map(({ id }) => id)

  it('are all of them without variants', () => {
    const messages = [at('c', '101011'), at('b', '1011'), at('a', '1010'), at('r', '10')]
    expect(ids(onPath(messages, at('x', '101012')))).toEqual(['c', 'b', 'a', 'r'])
  })

  it('have of variants the one above the answer, and nothing below the others', () => {
    const messages = [at('below', '101110'), at('second', '1011', 'first'), at('under', '101010'), at('first', '1010')]
    expect(ids(onPath(messages, at('x', '10101011')))).toEqual(['under', 'first'])
    expect(ids(onPath(messages, at('x', '10111010')))).toEqual(['below', 'second'])
  })

  it('have of variants elsewhere the latest, and of the own set none', () => {
    const messages = [at('second', '1011', 'first'), at('first', '1010')]
    expect(ids(onPath(messages, at('x', '1015')))).toEqual(['second'])
    expect(ids(onPath(messages, at('x', '1012', 'first')))).toEqual([])
  })
})

it.each([
  ['', 0],
  ['a', 1],
  ['a😀', 3],
  ['a\ud83d', 1],
  ['\ud83d', 0],
  ['a\ude00', 2],
])('the whole characters of %j are its first %i units', (text, length) => {
  expect(wholeLength(text)).toBe(length)
})

it.each([
  ['10', ['10']],
  ['1010', ['10', '1010']],
  ['102101z', ['10', '10210', '102101z']],
])('%s is below %j', (path, paths) => {
  expect(pathsDownTo(path)).toEqual(paths)
})
