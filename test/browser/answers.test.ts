import { describe, expect, it } from 'vitest'
import { createPuppet } from '../support/assistant.ts'
import { hasBrowser, type Page } from '../support/browser.ts'
import { look, lookInModes } from './looks.ts'
import { address, expectOne, openStage, signInAsAda, write } from './people.ts'

/** A room in which Ada has asked the assistant, whose answer the test writes. */
async function ask(question = 'Which engine is it?') {
  const puppet = createPuppet()
  const stage = await openStage({ assistant: puppet.assistant })
  const { page, ada } = await signInAsAda(stage)
  const { conversation_id } = await stage.chat.conversations.create(ada, { title: 'Engines' })
  await page.goto(`${stage.url}/#/c/${conversation_id}`)
  await address(page, 'conversation', 'Assistant')
  await write(page, 'conversation', question)
  return { ...stage, page, ada, conversation_id, puppet, answer: await puppet.asked() }
}

/** What is inside of a row of a tool, in the order of the page. */
const toolsOf = (page: Page) => page.locator('.tool .answer-line').allTextContents()

describe.skipIf(!hasBrowser)('the parts of an answer in the web chat', () => {
  it('are shown as they arrive, and as they were after a reload', async () => {
    const { page, answer, problems } = await ask()
    await page.waitForSelector('.message .note:text("Thinking…")')

    answer.say({ reasoning: 'They ask for an **engine**.' })
    await page.waitForSelector('.reasoning .answer-line:text("Thinking…")')
    await expect.poll(() => page.locator('.message .note').allTextContents()).toEqual([])
    await page.click('.reasoning .answer-line')
    await page.waitForSelector('.reasoning-text strong:text("engine")')
    await page.click('.reasoning .answer-line')
    await page.waitForSelector('.reasoning-text', { state: 'hidden' })

    answer.say({
      tool: { id: 'one', name: 'look_up', input: { query: 'engine', note: 'a\u202Eb <b>bold</b> **no**' } },
    })
    await page.waitForSelector('.tool[data-state=running] .tool-state:text("running…")')
    await page.waitForSelector('.reasoning .answer-line:text-matches("^Thought for \\\\d+ s$")')
    answer.say({ tool: { id: 'one', name: 'look_up', output: `${'steam '.repeat(1_000)}end` } })
    await page.waitForSelector('.tool[data-state=done]')
    answer.say({ tool: { id: 'two', name: 'measure', error: 'The scale is \u202Ebroken.' } })
    await page.waitForSelector('.tool[data-state=failed] .tool-state:text("failed")')
    await page.waitForSelector('.message .note:text("Thinking…")')
    answer.say('It is the **analytical** engine.', { source: { url: 'https://engines.example/a', title: 'Engines' } })
    answer.say({ data: { name: 'chart', data: { secret: 'for the page of the host' } } })
    answer.say({ source: { filename: 'notes.pdf', media_type: 'application/pdf' } })
    await page.waitForSelector('.message strong:text("analytical")')
    answer.end()
    await page.waitForSelector('.composer [aria-label=Send]')

    const check = async () => {
      await expect.poll(() => toolsOf(page)).toEqual(['look_up done', 'measure failed'])
      await page.waitForSelector('.reasoning .answer-line:text-matches("^Thought for \\\\d+ s$")')
      expect(await page.locator('.sources li').allTextContents()).toEqual(['Engines engines.example', 'notes.pdf'])
      await expectOne(page, '.sources a[href="https://engines.example/a"][rel~=noopener]')
      expect((await page.locator('.messages').allTextContents()).join()).not.toContain('secret')

      await page.click('.tool[data-state=done] .answer-line')
      const textOf = (name: string) =>
        page.locator(`.tool figure:has(figcaption:text-is("${name}")) pre`).allTextContents()
      await expect.poll(() => textOf('Result')).toEqual([expect.stringMatching(/^(steam ){1000}end$/)])
      expect(await textOf('Input')).toEqual(['{\n  "query": "engine",\n  "note": "a\\u{202e}b <b>bold</b> **no**"\n}'])
      await page.click('.tool[data-state=failed] .answer-line')
      await page.waitForSelector('.tool-details .note:text("The scale is \\\\u{202e}broken.")')
    }
    await check()
    await look(page, 'answer-parts')
    // The list leaves long values out: they are read when the line is opened.
    await page.reload()
    await check()
    await lookInModes(page, 'answer-parts')
    expect(problems).toEqual([])
  }, 180_000)

  it('are opened by keys, and many sources are folded', async () => {
    const { page, answer, problems } = await ask()
    answer.say({ reasoning: 'One thing first.' }, 'Here:')
    for (const at of Array(12).keys())
      answer.say({ source: { url: `https://engines.example/${at}`, title: `Page ${at}` } })
    answer.end()
    await page.waitForSelector('.sources li:nth-child(8)')
    expect(await page.locator('.sources li').allTextContents()).toHaveLength(8)
    await page.press('.sources .link', 'Enter')
    await page.waitForSelector('.sources li:nth-child(12)')
    await page.press('.reasoning .answer-line', 'Enter')
    await expectOne(page, '.reasoning-text:has-text("One thing first.")')
    await page.press('.reasoning .answer-line', 'Enter')
    await page.waitForSelector('.reasoning-text', { state: 'hidden' })
    expect(problems).toEqual([])
  }, 120_000)
})
