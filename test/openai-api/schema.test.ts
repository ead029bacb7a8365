import * as v from 'valibot'
import { expect, it } from 'vitest'
import { expand } from '../../lib/http/openapi/schemas.ts'
import { OtherPart } from '../../lib/openai-api/schema.ts'

it('takes the type of a part up to the length that is described, in characters', () => {
  const { type } = expand(OtherPart).properties as { type: { maxLength: number } }
  for (const character of ['a', '𝓪']) {
    expect(v.is(OtherPart, { type: character.repeat(type.maxLength) })).toBe(true)
    expect(v.is(OtherPart, { type: character.repeat(type.maxLength + 1) })).toBe(false)
  }
})
