import { describe, expect, it } from 'vitest'
import { createPuppet } from '../support/assistant.ts'
import { hasBrowser, type Page } from '../support/browser.ts'
import { address, openStage, type Stage, signInAsAda, write } from './people.ts'

const LINES = 5000

/** A message far longer than others: each line ends where it was typed. */
const LONG = Array.from({ length: LINES }, (_, line) => `line ${line}`).join('\n')

/** Opens a thread with a text as its second message. */
async function openText(stage: Stage, content: string): Promise<Page> {
  const { page, ada } = await signInAsAda(stage)
  const { conversation_id } = await stage.chat.conversations.create(ada, { title: 'Texts' })
  const { root_id } = await stage.chat.messages.postRoot(ada, conversation_id, { content: 'The first one' })
  await stage.chat.messages.reply(ada, root_id, { content })
  await page.goto(`${stage.url}/#/c/${conversation_id}/t/${root_id}`)
  await page.waitForSelector('.thread .markdown:not(.plain) p:has-text("The first one")')
  return page
}

/** The text of the last message, once all of it that is to be shown is. */
async function shownText(page: Page): Promise<string> {
  const state = `(() => {
    const message = [...document.querySelectorAll('.thread .message .markdown')].at(-1)
    return message.matches('.plain, [aria-busy]') ? '' : message.textContent
  })()`
  let text = ''
  await expect.poll(async () => (text = String(await page.evaluate(state))), { timeout: 60_000 }).not.toBe('')
  return text
}

describe.skipIf(!hasBrowser)('a message with thousands of lines', () => {
  it('shows its beginning and a button, which shows all of it and keeps the place and the focus', async () => {
    const stage = await openStage({})
    const page = await openText(stage, LONG)
    await page.waitForSelector('.thread .unfold[aria-expanded=false]:text-is("Show the whole message")')
    expect(await shownText(page)).toContain('line 1000')
    expect(await shownText(page)).not.toContain(`line ${LINES - 1}`)

    // An opened thread is at its end, and stays there while it grows: but the rest of the message is read from here.
    await page.evaluate(`document.querySelector('.thread .unfold').focus()`)
    const top = Number(await page.evaluate(`document.querySelector('.thread .scroll').scrollTop`))
    await page.press('.thread .unfold', 'Enter')
    await page.waitForSelector('.thread .unfold[aria-expanded=true]:text-is("Show less")')
    const text = await shownText(page)
    for (let line = 0; line < LINES; line++) expect(text.includes(`line ${line}`)).toBe(true)
    expect(await page.evaluate('document.activeElement.className')).toBe('unfold link')
    expect(await page.evaluate(`document.querySelector('.thread .scroll').scrollTop`)).toBe(top)

    await page.press('.thread .unfold', 'Enter')
    await page.waitForSelector('.thread .unfold[aria-expanded=false]')
    expect(await shownText(page)).not.toContain(`line ${LINES - 1}`)
    expect(stage.problems).toEqual([])
  })

  it('is whole if it is an answer that was read while it was written, and folded for those who come later', async () => {
    const puppet = createPuppet()
    const stage = await openStage({ assistant: puppet.assistant })
    const page = await openText(stage, 'The second one')
    await address(page, 'thread', 'Assistant')
    await write(page, 'thread', 'Count')
    const answer = await puppet.asked()
    answer.say(LONG)
    await page.waitForSelector(`.message[data-role=assistant] .markdown:has-text("line ${LINES - 1}")`)
    expect(await page.locator('.thread .unfold').allTextContents()).toEqual([])
    answer.end()
    await page.waitForSelector('.message[data-role=assistant] .unfold[aria-expanded=true]')
    expect(await shownText(page)).toContain(`line ${LINES - 1}`)
    await page.reload()
    await page.waitForSelector('.message[data-role=assistant] .unfold[aria-expanded=false]')
    expect(await shownText(page)).not.toContain(`line ${LINES - 1}`)
    expect(stage.problems).toEqual([])
  })

  it('is whole without a button if it has few lines, however long they are', async () => {
    const stage = await openStage({})
    const sentence = '漢字かな交じり文。'
    const page = await openText(stage, sentence.repeat(2000))
    expect(await shownText(page)).toBe(sentence.repeat(2000))
    expect(await page.locator('.thread .unfold').allTextContents()).toEqual([])
    expect(stage.problems).toEqual([])
  })
})
