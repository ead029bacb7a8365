import { describe, expect, it } from 'vitest'
import { AnswerFailure } from '../../lib/chat/answers/answer-failure.ts'
import { createPuppet } from '../support/assistant.ts'
import { hasBrowser } from '../support/browser.ts'
import { look, lookInModes } from './looks.ts'
import { address, expectOne, openStage, signInAsAda, write } from './people.ts'

const HOUR = 3_600

/** A room in which Ada can ask the assistant, whose answers the test writes. */
async function openRoom(config: object = {}, locale = 'en-GB') {
  const puppet = createPuppet()
  const stage = await openStage({ assistant: puppet.assistant }, config)
  const { page, ada } = await signInAsAda(stage, { locale })
  const { conversation_id } = await stage.chat.conversations.create(ada, { title: 'Engines' })
  await page.goto(`${stage.url}/#/c/${conversation_id}`)
  await page.waitForSelector('.composer .chip')
  const ask = async (text: string) => {
    await address(page, 'conversation', 'Assist')
    await write(page, 'conversation', text)
  }
  return { ...stage, page, ada, conversation_id, puppet, ask }
}

describe.skipIf(!hasBrowser)('an answer that fails, in the web chat', () => {
  it('says why, and is asked for again at once, or when the assistant has time', async () => {
    const { page, puppet, ask, problems } = await openRoom()
    await ask('First?')
    ;(await puppet.asked()).fail(new AnswerFailure('timeout'))
    await page.waitForSelector('.ending:has-text("The assistant took too long.")')
    await page.click('.ending button:text-is("Try again")')
    const busy = await puppet.asked()
    busy.fail(new AnswerFailure('provider_busy', undefined, { retry_after_seconds: HOUR }))
    await page.waitForSelector('.ending:has-text("The assistant is busy.") button:disabled')
    await page.waitForSelector('.ending [aria-hidden]:text-matches("^in (59 min \\\\d+ s|1 h)$")')
    await look(page, 'failure-busy')
    await lookInModes(page, 'failure-busy')
    await page.clock.setFixedTime(Date.now() + (HOUR + 1) * 1_000)
    await page.click('.ending button:text-is("Try again"):enabled')
    const last = await puppet.asked()
    last.say('It is whole.', { finish_reason: 'length' })
    last.end()
    await page.waitForSelector('.ending:has-text("limit of its length")')
    expect(await page.locator('.ending button').allTextContents()).toEqual([])
    await ask('Second?')
    const cut = await puppet.asked()
    cut.say('It is', { finish_reason: 'unknown' })
    cut.end()
    await expectOne(page, '.ending:has-text("The answer may be cut off.") button')
    expect(problems).toEqual([])
  }, 120_000)

  it('is not asked for beyond a quota, which says when there is more', async () => {
    const usage = { quotas: [{ role: '*', period: 'day', answers: 1 }] }
    const { page, puppet, ask, problems } = await openRoom({ usage }, 'de-DE')
    await ask('Eins?')
    const first = await puppet.asked()
    first.say('Ja.')
    first.end()
    await page.waitForSelector('.message:has-text("Ja.")')
    await ask('Zwei?')
    await page.waitForSelector(
      '.note.error span:text-matches("Nicht gesendet. Du hast dein Limit für heute .Antworten: 1. erreicht. Ab .*\\\\d:\\\\d\\\\d kannst du")',
    )
    await look(page, 'failure-quota')
    await page.click('.note.error button:text-is("Verwerfen")')
    await page.waitForSelector('.message:has-text("Zwei?")', { state: 'detached' })
    expect(problems.filter((each) => !each.includes('429'))).toEqual([])
  }, 120_000)
})
