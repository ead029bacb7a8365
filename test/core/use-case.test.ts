import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { MentionsInput } from '../../lib/chat/mentions/schema.ts'
import type { Context } from '../../lib/context.ts'
import type { ChatError } from '../../lib/core/errors.ts'
import { plainObject } from '../../lib/core/schema.ts'
import { bind, parseInput, useCase } from '../../lib/core/use-case.ts'

const Input = v.object({
  mentions: v.optional(MentionsInput),
  object: v.optional(plainObject({ key: v.string() })),
  list: v.optional(v.array(v.string())),
  level: v.optional(v.picklist(['on', 'off'])),
  flag: v.optional(v.boolean()),
  count: v.optional(v.pipe(v.number(), v.integer(), v.minValue(3))),
  name: v.optional(v.pipe(v.string(), v.minLength(1))),
  code: v.optional(v.pipe(v.string(), v.regex(/^[a-z]+$/))),
  either: v.optional(v.union([v.string(), v.array(v.string())])),
  strict: v.optional(v.strictObject({})),
})

const PROBLEMS: [input: unknown, path: string, message: string][] = [
  [[], '', 'must be an object'],
  [5, '', 'must be an object'],
  [{ mentions: [] }, 'mentions', 'must be an object'],
  [{ mentions: null }, 'mentions', 'must be an object'],
  [{ mentions: 'ada' }, 'mentions', 'must be an object'],
  [{ mentions: { user_ids: {} } }, 'mentions.user_ids', 'must be an array'],
  [{ mentions: { user_ids: [5] } }, 'mentions.user_ids[0]', 'must be a string'],
  [{ mentions: { all: 1 } }, 'mentions.all', 'must be true or false'],
  [{ object: [] }, 'object', 'must be an object'],
  [{ object: {} }, 'object.key', 'is missing'],
  [{ list: 'a' }, 'list', 'must be an array'],
  [{ level: 'loud' }, 'level', 'must be "on" or "off"'],
  [{ flag: 'yes' }, 'flag', 'must be true or false'],
  [{ count: 'a' }, 'count', 'must be a number'],
  [{ count: 3.5 }, 'count', 'must be a whole number'],
  [{ count: 1 }, 'count', 'must be at least 3'],
  [{ name: '' }, 'name', 'must not be empty'],
  [{ code: 'A' }, 'code', 'must match /^[a-z]+$/'],
  [{ either: 5 }, 'either', 'must be a string or an array'],
  [{ strict: { other: 1 } }, 'strict.other', 'must be left out'],
]

describe('the problem of an invalid field', () => {
  it.each(PROBLEMS)('%j: %s %s', (input, path, message) => {
    try {
      parseInput(Input, input)
    } catch (error) {
      return expect((error as ChatError).errors).toEqual([{ path, message }])
    }
    throw new Error('was accepted')
  })
})

describe('a call without types', () => {
  const ctx = { lifecycle: { state: 'started' } } as Context
  const call = bind(ctx, useCase({ takes: ['actor', 'user'], run: async () => 'done' })) as unknown as (
    ...args: unknown[]
  ) => Promise<string>

  it.each([undefined, null, 'ada', { subject: 'ada' }, { user_id: 'ada' }])(
    'is refused with %j as its actor',
    async (actor) => {
      await expect(call(actor)).rejects.toMatchObject({
        code: 'unauthenticated',
        message: expect.stringContaining('actor'),
      })
    },
  )

  it('is not refused with an actor', async () => {
    expect(await call({ user_id: 'ada', roles: [] }, 'grace')).toBe('done')
  })
})
