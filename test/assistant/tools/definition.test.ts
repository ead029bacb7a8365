import { toStandardJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import type { ToolCall } from '../../../lib/assistant/tools/definition.ts'
import { toTool } from '../../../lib/assistant/tools/hosted.ts'
import { OPERATOR } from '../../../lib/core/actor.ts'
import { isStorable } from '../../../lib/core/schema.ts'
import { defineTool, ToolFailure, toolResult } from '../../../lib/index.ts'

const Refund = v.object({
  order: v.pipe(v.string(), v.description('The number of the order')),
  amount: v.optional(v.pipe(v.number(), v.minValue(1)), 5),
})

const SCHEMA = {
  type: 'object',
  properties: {
    order: { type: 'string', description: 'The number of the order' },
    amount: { type: 'number', minimum: 1, default: 5 },
  },
  required: ['order'],
}

const CALL: ToolCall = {
  call_id: 'c',
  attempt: 1,
  actor: OPERATOR,
  user: { id: 'u', username: 'ada' },
  conversation_id: 'k',
  message_id: 'm',
  assistant: 'assistant',
  signal: new AbortController().signal,
}

const base = { description: 'Refunds', input: Refund, run: () => null }

describe('the input of a tool', () => {
  it.each([
    ['a schema of valibot', Refund],
    ['a Standard Schema with JSON Schema', toStandardJsonSchema(Refund)],
    ['a JSON Schema and a function', { json_schema: { ...SCHEMA, $schema: 'x' }, validate: checkByHand }],
    ['a function that takes its time', { json_schema: SCHEMA, validate: async (input: unknown) => checkByHand(input) }],
  ])('%s has a JSON Schema and checks', async (_, input) => {
    const tool = toTool('refund', defineTool({ ...base, input: input as typeof Refund }))
    expect(tool.schema).toEqual(SCHEMA)
    expect(await tool.validate({ order: '7' })).toEqual({ value: { order: '7', amount: 5 } })
    expect(await tool.validate({ order: 7 })).toEqual({ issues: expect.stringContaining('order') })
    expect(await tool.validate('7')).toEqual({ issues: expect.any(String) })
  })

  it('has the schema of what is given, and gets what the schema makes of it', async () => {
    const input = v.object({ day: v.pipe(v.string(), v.isoDate(), v.check(isPast, 'must be past'), v.toDate()) })
    const days: Date[] = []
    const tool = toTool('day', defineTool({ ...base, input, run: ({ day }) => void days.push(day) }))
    expect(tool.schema).toMatchObject({ properties: { day: { type: 'string' } } })
    const checked = await tool.validate({ day: '2020-02-01' })
    if (checked.issues !== undefined) return expect.fail(checked.issues)
    expect(await tool.run(checked.value, CALL)).toEqual({ output: null, parts: [] })
    expect(days).toEqual([new Date('2020-02-01')])
    expect(await tool.validate({ day: '9999-02-01' })).toEqual({ issues: 'day: must be past' })
  })

  it('is told to the model in few words that can be stored', async () => {
    const issues = Array.from({ length: 50 }, (_, n) => ({ message: `${n}\0\ud800${'x'.repeat(300)}` }))
    const tool = toTool('t', defineTool({ ...base, input: { json_schema: SCHEMA, validate: () => ({ issues }) } }))
    const { issues: text } = await tool.validate({})
    expect(text!.length).toBeLessThanOrEqual(1_000)
    expect(isStorable(text!)).toBe(true)
    expect(text).toMatch(/^0\ufffdx+; 1\ufffdx+; /)
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('secret')
      },
      'secret',
    ],
    ['returns nothing', () => undefined, 'must return { value } or { issues }'],
    ['rejects', () => Promise.reject(new Error('secret')), 'secret'],
  ])('is refused by a check that %s, and the error is for the log', async (_, validate, message) => {
    const tool = toTool('t', defineTool({ ...base, input: { json_schema: SCHEMA, validate: validate as never } }))
    const checked = await tool.validate({})
    expect(checked).toMatchObject({ issues: 'The input could not be checked.' })
    expect((checked as { error: Error }).error.message).toContain(message)
  })
})

describe('defineTool refuses', () => {
  it.each<[string, object | undefined, RegExp]>([
    ['nothing', undefined, /needs an object/],
    ['no description', { description: undefined }, /description must be/],
    ['an empty description', { description: '' }, /description must not be empty/],
    ['no input', { input: undefined }, /input must be set/],
    ['no function', { run: 'refund' }, /run must be a function/],
    ['an unknown member', { idempotnt: true }, /has no "idempotnt"/],
    ['no time', { timeout_seconds: 0 }, /timeout_seconds must be a whole number from 1 to 3600/],
    ['more than an hour', { timeout_seconds: 3601 }, /timeout_seconds must be a whole number from 1 to 3600/],
    ['an unknown view', { show: 'none' }, /show must be one of all, input, name/],
    ['a text for a flag', { idempotent: 'yes' }, /idempotent must be true or false/],
    ['a title with a line end', { title: 'a\nb' }, /title must be visible/],
    ['an approval that is no object', { approval: 'admins' }, /approval must be an object/],
    ['an approval of no role', { approval: {} }, /approval.by must be set/],
    ['an approval of an unknown role', { approval: { by: 'owner' } }, /approval.by must be one of asker/],
    ['a misspelt rule', { approval: { by: 'admins', quorom: 2 } }, /approval.quorom is no key/],
    ['no quorum', { approval: { by: 'admins', quorum: 0 } }, /approval.quorum must be a whole number from 1 to 10/],
    [
      'a large quorum',
      { approval: { by: 'admins', quorum: 11 } },
      /approval.quorum must be a whole number from 1 to 10/,
    ],
    ['half a minute', { approval: { by: 'admins', expires_seconds: 30 } }, /approval.expires_seconds must be a whole/],
    ['the asker twice', { approval: { by: 'asker', quorum: 2 } }, /approval.quorum must be 1 where the asker/],
    ['the asker without the asker', { approval: { by: 'asker', not_asker: true } }, /approval.not_asker must be false/],
  ])('%s', (_, change, message) => {
    expect(() => defineTool((change && { ...base, ...change }) as never)).toThrow(message)
    expect(() => defineTool((change && { ...base, ...change }) as never)).toThrow(TypeError)
  })
})

describe('a service refuses', () => {
  const json = (json_schema: unknown) => defineTool({ ...base, input: { json_schema, validate: () => ({}) } as never })

  it.each<[string, string, unknown, RegExp]>([
    ['a name with a space', 'my tool', defineTool(base), /"tools.my tool" must have a name/],
    ['a name that begins with a digit', '2nd', defineTool(base), /must have a name/],
    ['a long name', 'x'.repeat(65), defineTool(base), /must have a name/],
    ['an object of another making', 'refund', base, /must be made by defineTool/],
    ['no tool', 'refund', undefined, /must be made by defineTool/],
    ['an array', 'refund', defineTool({ ...base, input: v.array(v.string()) }), /schema of an object/],
    ['a text', 'refund', json({ type: 'string' }), /schema of an object/],
    ['no schema', 'refund', json(null), /schema of an object/],
    [
      'what JSON Schema lacks',
      'refund',
      defineTool({ ...base, input: v.object({ at: v.date() }) }),
      /has no JSON Schema/,
    ],
    [
      'a schema that gives none',
      'refund',
      defineTool({ ...base, input: withoutJson() }),
      /must be a Standard Schema that/,
    ],
    [
      'another input',
      'refund',
      defineTool({ ...base, input: { type: 'object' } as never }),
      /must be a Standard Schema/,
    ],
  ])('%s', (_, name, tool, message) => {
    expect(() => toTool(name, tool as never)).toThrow(message)
  })
})

describe('the approval of a tool', () => {
  const rule = { quorum: 1, not_asker: false, keys: false, expires_seconds: 86_400 }

  it('has the defaults, and is shown before a call', async () => {
    const tool = toTool('refund', defineTool({ ...base, approval: { by: 'admins' } }))
    expect(tool.fixedApproval).toEqual({ by: 'admins', ...rule })
    expect(await tool.approval({})).toEqual({ by: 'admins', ...rule })
  })

  it('can depend on the input, and is not shown then', async () => {
    const approval = ({ amount }: { amount: number }) => amount > 100 && { by: 'members' as const, quorum: 2 }
    const tool = toTool('refund', defineTool({ ...base, approval }))
    expect(tool.fixedApproval).toBeUndefined()
    expect(await tool.approval({ amount: 101 })).toEqual({ ...rule, by: 'members', quorum: 2 })
    expect(await tool.approval({ amount: 100 })).toBeUndefined()
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('no')
      },
      /^no$/,
    ],
    ['returns nothing', () => undefined, /approval must be an object with "by"/],
    ['returns what no call can need', () => ({ by: 'asker', quorum: 3 }), /approval.quorum must be 1/],
  ])('never lets a call pass when its function %s', async (_, approval, message) => {
    const tool = toTool('refund', defineTool({ ...base, approval: approval as never }))
    await expect(tool.approval({})).rejects.toThrow(message)
  })
})

it('a call returns JSON, nothing, or an output with parts', async () => {
  const part = { source: { url: 'https://example.org' } }
  const returning = (result: unknown) => toTool('t', defineTool({ ...base, run: async () => result })).run({}, CALL)
  expect(await returning({ id: 7 })).toEqual({ output: { id: 7 }, parts: [] })
  expect(await returning(undefined)).toEqual({ output: null, parts: [] })
  expect(await returning(toolResult({ output: 7, parts: [part] }))).toEqual({ output: 7, parts: [part] })
  expect(await returning({ output: 7, parts: [part] })).toEqual({ output: { output: 7, parts: [part] }, parts: [] })
  expect(() => toolResult({ output: 1, parts: {} as never })).toThrow(/parts must be a list/)
})

it('a failure has a text that can be shown and stored', () => {
  expect(new ToolFailure('x'.repeat(600)).message).toHaveLength(500)
  expect(new ToolFailure(`${'x'.repeat(499)}\u{1f600}`).message).toBe('x'.repeat(499))
  expect(new ToolFailure('a\0b').message).toBe('ab')
})

function checkByHand(input: unknown) {
  const { order, amount = 5 } = Object(input)
  return typeof order === 'string' ? { value: { order, amount } } : { issues: ['order must be a text'] }
}

function isPast(day: string): boolean {
  return day < '2100'
}

/** A Standard Schema of a library that has no JSON Schema. */
function withoutJson() {
  return { '~standard': { version: 1 as const, vendor: 'other', validate: (value: unknown) => ({ value }) } }
}
