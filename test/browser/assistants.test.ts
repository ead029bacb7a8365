import { describe, expect, it } from 'vitest'
import { createPuppet } from '../support/assistant.ts'
import { hasBrowser } from '../support/browser.ts'
import { freePort } from '../support/free-port.ts'
import { look, lookInModes } from './looks.ts'
import { address, choose, expectOne, openDetails, openStage, write } from './people.ts'
import { openTalk } from './talk.ts'

/** A room of Ada and Grace in a service with two assistants, whose answers the test writes. */
async function openRoom() {
  const [puppet, coder] = [createPuppet(), createPuppet()]
  const port = await freePort()
  const avatar_url = `http://127.0.0.1:${port}/icon-192.png`
  const stage = await openStage(
    {
      assistant: puppet.assistant,
      assistants: { coder: { title: 'Coder', avatar_url, provider: coder.assistant } },
    },
    { server: { port }, assistant: { name: 'Helper', label: 'AI text', notice: 'Answers may be wrong.' } },
  )
  const talk = await openTalk(stage.url)
  const { page } = await stage.visit(stage.url)
  await talk.signIn(page, 'ada')
  const open = async (id = talk.conversation_id) => {
    await page.goto(`${stage.url}/#/c/${id}`)
    await page.waitForSelector('.conversation .composer textarea')
  }
  await open()
  return { ...stage, ...talk, page, puppet, coder, open }
}

describe.skipIf(!hasBrowser)('several assistants in the web chat', () => {
  it('are chosen at the chip and behind @, and are named with picture and label at their answers', async () => {
    const { page, coder, puppet, problems } = await openRoom()
    await page.click('.conversation .composer .chip')
    await expect
      .poll(() => page.locator('.composer .panel button').allTextContents())
      .toEqual(['Everyone', 'Helper', 'Coder'])
    await look(page, 'assistants-chip')
    await page.click('.composer .panel button:has-text("Coder")')
    await page.waitForSelector('.composer textarea[placeholder="Ask Coder…"]')
    await expectOne(page, '.composer .assistant-notice:text-is("Answers may be wrong.")')
    await look(page, 'assistants-notice')

    await write(page, 'conversation', 'How do I sort?')
    const answer = await coder.asked()
    expect(answer.request.assistant).toBe('coder')
    answer.say('With sort.')
    answer.end()
    await page.waitForSelector('.message:has-text("With sort.") .name:text-is("Coder")')
    await expectOne(page, '.message:has-text("With sort.") .tag.label:text-is("AI text")')
    await expectOne(page, '.message:has-text("With sort.") .avatar img[src$="/icon-192.png"]')
    await expectOne(page, '.message.question:has-text("How do I sort?") .tag:text-is("To: Coder")')
    await look(page, 'assistants-answer')
    await lookInModes(page, 'assistants-answer')

    // One question is for the assistant, the next message for all; the notice is known.
    await page.waitForSelector('.composer .chip:has-text("To: Everyone")')
    await page.click('.conversation .composer textarea')
    await page.keyboard.type('Now @cod')
    await page.waitForSelector('.completion [role=option]:has-text("Coder")')
    await page.keyboard.press('Enter')
    await page.waitForSelector('.composer .chip:has-text("To: Coder")')
    expect(await page.inputValue('.conversation .composer textarea')).toBe('Now ')
    expect(await page.locator('.assistant-notice').allTextContents()).toEqual([])

    await address(page, 'conversation', 'Helper')
    await write(page, 'conversation', 'And you?')
    const other = await puppet.asked()
    expect(other.request.assistant).toBe('assistant')
    other.say('I help.')
    other.end()
    await page.waitForSelector('.message:has-text("I help.") .name:text-is("Helper")')
    expect(problems).toEqual([])
  }, 120_000)

  it('go on in a chat of their own, also after a reload, and answer a message that names them again', async () => {
    const { page, ada, coder, open, problems, conversation_id } = await openRoom()
    const chat = await ada.conversations.create({ title: 'Code', layout: 'assistant' })
    await open(chat.conversation_id)
    await page.waitForSelector('.composer .chip:has-text("To: Helper")')
    await address(page, 'conversation', 'Coder')
    await write(page, 'conversation', 'First')
    const first = await coder.asked()
    first.say('One.')
    first.end()
    await page.waitForSelector('.composer .chip:has-text("To: Coder")')
    await page.reload()
    await page.waitForSelector('.composer .chip:has-text("To: Coder")')
    await write(page, 'conversation', 'Second')
    const second = await coder.asked()
    expect(second.request.turns.map(({ content }) => content)).toEqual(['First', 'One.', 'Second'])
    second.end()

    const { root_id } = await ada.messages.postRoot(conversation_id, { content: 'What is it, @coder?' })
    const named = await coder.asked()
    named.say('A sort.')
    named.end()
    await page.goto(page.url().replace(/#.*/, `#/c/${conversation_id}/t/${root_id}`))
    await page.waitForSelector('.thread .message:has-text("A sort.") .name:text-is("Coder")')
    expect(await page.locator('.thread .question').allTextContents()).toEqual([])
    await choose(page, 'A sort.', 'Ask again')
    const again = await coder.asked()
    expect(again.request.turns.at(-1)!.content).toBe('What is it, @coder?')
    again.say('Another sort.')
    again.end()
    await page.waitForSelector('.thread .message:has-text("Another sort.")')
    await expectOne(page, '.thread .variants:has-text("2/2")')
    expect(await page.locator('.thread .question').allTextContents()).toEqual([])
    expect(problems).toEqual([])
  }, 120_000)

  it('are set in About of a room by its owner, and shown there to all', async () => {
    const { url, visit, page, ada, conversation_id, signIn, problems } = await openRoom()
    await openDetails(page, 'About')
    await page.selectOption('.details select[name=key]', 'coder')
    await page.fill('.details textarea', 'We write Rust.\n<b>Always.</b>')
    await look(page, 'about-assistant')
    await page.click('.details form:has(textarea) button[type=submit]')
    await page.waitForSelector('.toast:has-text("Saved.")')
    expect((await ada.conversations.get(conversation_id)).assistant).toEqual({
      key: 'coder',
      prompt: 'We write Rust.\n<b>Always.</b>',
    })
    await page.selectOption('.details select:has(option[value=some])', 'some')
    await page.click('.details label.check:has-text("Helper") input')
    await expect.poll(async () => (await ada.conversations.get(conversation_id)).policy.assistants).toEqual(['coder'])
    await page.click('.conversation .composer .chip')
    await expect.poll(() => page.locator('.composer .panel button').allTextContents()).toEqual(['Everyone', 'Coder'])

    const { page: other } = await visit(url, { locale: 'de-DE', colorScheme: 'dark' })
    await signIn(other, 'grace')
    await other.goto(`${url}/#/c/${conversation_id}/details/about`)
    await other.waitForSelector('.details p:text-is("Coder antwortet hier.")')
    await other.waitForSelector('.details .assistant-prompt:has-text("<b>Always.</b>")')
    expect(await other.locator('.details textarea').allTextContents()).toEqual([])
    await look(other, 'about-assistant-member')

    await page.selectOption('.details select:has(option[value=some])', 'none')
    await page.waitForSelector('.composer .chip', { state: 'detached' })
    await other.waitForSelector('.composer .chip', { state: 'detached' })
    expect(problems).toEqual([])
  }, 120_000)
})
