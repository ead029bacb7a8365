import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { createPuppet } from '../support/assistant.ts'
import { hasBrowser, type Page } from '../support/browser.ts'
import { look, lookInModes } from './looks.ts'
import { expectOne, openStage } from './people.ts'
import { openTalk } from './talk.ts'

const CONFIG = {
  assistant: { model: 'ada-1' },
  prices: [{ model: 'ada-1', input: 1_000_000, output: 2_000_000 }],
  usage: { quotas: [{ role: '*', period: 'day', answers: 2, tokens: 10_000 }] },
}

/** A service in which Ada and Grace have asked the assistant, each once. */
async function openService() {
  const puppet = createPuppet()
  const stage = await openStage({ assistant: puppet.assistant }, CONFIG)
  const talk = await openTalk(stage.url)
  for (const person of [talk.ada, talk.grace]) {
    const { message_id } = await person.messages.postRoot(talk.conversation_id, { content: 'Why?', role: 'assistant' })
    const answer = await puppet.asked()
    answer.say('So.', { usage: { prompt_tokens: 1_200, completion_tokens: 300, total_tokens: 1_500 } })
    answer.end()
    await expect.poll(async () => (await person.messages.get(message_id)).status).toBe('complete')
  }
  const { page } = await stage.visit(stage.url)
  await talk.signIn(page, 'ada')
  return { ...stage, ...talk, page, puppet }
}

const rowsOf = (page: Page) => page.locator('.usage-report li').allTextContents()

describe.skipIf(!hasBrowser)('the use of the assistants in the web chat', () => {
  it('is shown to each user, with the limits as bars', async () => {
    const { url, page, problems } = await openService()
    await page.goto(`${url}/#/account/usage`)
    await page.waitForSelector('.usage dd:has-text("1 of 2")')
    await expectOne(page, '.usage dd:has-text("1,500 of 10,000") meter[aria-label="Today: Tokens"]')
    expect(await page.locator('.usage dd:has-text("1,200 in, 300 out")').allTextContents()).toHaveLength(2)
    expect(await page.locator('.usage dd:has-text("0.0018")').allTextContents()).toHaveLength(2)
    expect(await page.locator('.usage meter').allTextContents()).toHaveLength(2)
    expect(await page.locator('.sheet section small:has-text("Begins anew")').allTextContents()).toHaveLength(2)
    await look(page, 'usage')
    await lookInModes(page, 'usage')
    expect(problems).toEqual([])
  })

  it('is reported to administrators by user, assistant, model, day and room, in pages, for days that they choose', async () => {
    const { url, page, problems } = await openService()
    await page.goto(`${url}/#/administration/usage`)
    await page.waitForSelector('.usage-report a:text-is("Ada Lovelace")')
    await page.waitForSelector('.usage-report a:text-is("grace")')
    expect(await rowsOf(page)).toHaveLength(2)
    await look(page, 'usage-report')
    await lookInModes(page, 'usage-report')
    for (const [by, name] of [
      ['assistant', 'Assistant'],
      ['model', 'ada-1'],
      ['conversation', 'Engines'],
      ['day', `${new Date().getUTCFullYear()}`],
    ]) {
      await page.selectOption('.sheet select', by!)
      await page.waitForSelector(`.usage-report li:has-text("${name}"):has-text("Answers: 2 · Tokens: 3,000")`)
      expect(await rowsOf(page)).toHaveLength(1)
    }
    const [file] = await Promise.all([page.waitForEvent('download'), page.click('button:text-is("Save as CSV")')])
    expect(file.suggestedFilename()).toBe('usage-day.csv')
    expect(await readFile((await file.path())!, 'utf8')).toMatch(/^day,answers,.*\r\n\d{4}-\d\d-\d\d,2,3000,/)
    await page.fill('.sheet input[type=date] >> nth=1', '2020-01-01')
    await page.press('.sheet input[type=date] >> nth=1', 'Tab')
    await page.waitForSelector('.sheet :is(.error, .quiet:text("Nothing was used in this time."))')
    await page.fill('.sheet input[type=date] >> nth=0', '2019-12-01')
    await page.press('.sheet input[type=date] >> nth=0', 'Tab')
    await expectOne(page, '.sheet .quiet:text("Nothing was used in this time.")')
    expect(problems.filter((each) => !each.includes('422'))).toEqual([])
  }, 120_000)

  it('is limited for one user by an administrator, and by roles again', async () => {
    const { url, page, grace, problems } = await openService()
    const { user } = await grace.auth.me()
    const limitsOf = async () => (await grace.usage.get()).periods.map(({ limits }) => limits)
    await page.goto(`${url}/#/administration/users/${user.id}`)
    const roles = 'The limits of roles apply. In a day: Answers 2 · In a day: Tokens 10,000'
    await page.waitForSelector(`.quota-now:text-is("${roles}")`)
    expect(await page.locator('button:text-is("Back to the limits of roles")').allTextContents()).toEqual([])
    await page.fill('.sheet [name="day.answers"]', '5')
    await page.fill('.sheet [name="month.cost_micros"]', '2.5')
    await look(page, 'usage-quota')
    await page.press('.sheet [name="day.answers"]', 'Enter')
    await page.waitForSelector('.toast:has-text("The limits are set.")')
    expect(await limitsOf()).toEqual([{ answers: 5 }, { cost_micros: 2_500_000 }])
    await page.waitForSelector('.quota-now:text-is("This user has limits of their own.")')
    await page.reload()
    await page.waitForSelector('.quota-now')
    expect(await page.inputValue('.sheet [name="day.answers"]')).toBe('5')
    expect(await page.inputValue('.sheet [name="month.cost_micros"]')).toBe('2.5')
    expect(await page.inputValue('.sheet [name="day.tokens"]')).toBe('')
    await page.click('button:text-is("Back to the limits of roles")')
    await page.waitForSelector('.toast:has-text("The limits of roles apply again.")')
    expect(await limitsOf()).toEqual([{ answers: 2, tokens: 10_000 }, undefined])
    await page.waitForSelector(`.quota-now:text-is("${roles}")`)
    expect(await page.locator('button:text-is("Back to the limits of roles")').allTextContents()).toEqual([])
    expect(await page.inputValue('.sheet [name="day.answers"]')).toBe('')
    expect(problems).toEqual([])
  })
})
