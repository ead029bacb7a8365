import { expect, it } from 'vitest'
import { endingOf } from '../../../examples/web-chat/src/answers/ending-of.ts'
import { texts } from '../../../examples/web-chat/src/texts/answers-en.ts'
import { texts as german } from '../../../examples/web-chat/src/texts/languages/de.ts'
import { FAILURES } from '../../../lib/chat/answers/schema-failures.ts'

type Message = Parameters<typeof endingOf>[0]

it.each<[string, Message, string | undefined, boolean?]>([
  ['in progress', { status: 'streaming' }, undefined],
  ['that is whole', { status: 'complete', finish_reason: 'stop' }, undefined],
  ['without a reason', { status: 'complete' }, undefined],
  ['that may be cut off', { status: 'complete', finish_reason: 'unknown' }, 'The answer may be cut off.', true],
  ['at its limit', { status: 'complete', finish_reason: 'length' }, texts.answers.at_limit, false],
  ['that a filter ended', { status: 'complete', finish_reason: 'content_filter' }, texts.answers.filtered, true],
  ['that was stopped', { status: 'cancelled', finish_reason: 'cancelled' }, 'Stopped.', true],
  ['that was interrupted', { status: 'interrupted' }, 'The answer was interrupted.', true],
  ['that failed of old', { status: 'failed' }, 'The answer failed.', true],
  ['that is too long', { status: 'failed', failure: 'answer_too_long' }, texts.answers.failures.answer_too_long, false],
  ['of a busy assistant', { status: 'failed', failure: 'provider_busy' }, 'The assistant is busy.', true],
  ['of a code to come', { status: 'failed', failure: 'other' as 'timeout' }, 'The answer failed.', true],
])('an answer %s is explained', (_, message, text, helpsAgain) => {
  const ending = endingOf(message)
  expect(ending?.text(texts.answers)).toBe(text)
  expect(ending?.helpsAgain).toBe(helpsAgain)
})

it.each(Object.keys(FAILURES))('the failure %s has its own words in each language', (code) => {
  const words = [texts, german].map(({ answers }) => answers.failures[code])
  expect(words).toEqual([expect.stringMatching(/\.$/), expect.stringMatching(/\.$/)])
  expect(words).not.toContain(texts.answers.endings.failed)
})
