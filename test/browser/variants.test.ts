import { expect, it } from 'vitest'
import { createPuppet } from '../support/assistant.ts'
import { hasBrowser } from '../support/browser.ts'
import { look } from './looks.ts'
import { choose, openStage, write } from './people.ts'
import { openTalk } from './talk.ts'

it.skipIf(!hasBrowser)(
  'shows the newest answer to a question with what follows it, the others at two buttons, and why an answer failed',
  async () => {
    const puppet = createPuppet()
    const { url, visit, problems } = await openStage({ assistant: puppet.assistant })
    const { ada, signIn } = await openTalk(url)
    const { page } = await visit(url)
    await signIn(page, 'ada')
    const { conversation_id } = await ada.conversations.create({ title: 'Talk', layout: 'assistant' })
    const answer = async (text: string) => {
      const running = await puppet.asked()
      running.say(text)
      running.end()
      await page.waitForSelector(`.message[data-role=assistant]:has-text("${text}")`)
    }
    const answers = () => page.locator('.message[data-role=assistant] .markdown').allTextContents()
    const shows = async (place: string, texts: string[]) => {
      await page.waitForSelector(`.variants:has-text("${place}")`)
      await expect.poll(answers).toEqual(texts)
    }
    await page.goto(`${url}/#/c/${conversation_id}`)
    await page.waitForSelector('.stream[data-open=true]')
    await write(page, 'conversation', 'Why?')
    await answer('By steam.')
    await write(page, 'conversation', 'Is it hot?')
    await answer('Very hot.')
    // What was answered in view waits nowhere.
    await page.waitForSelector('.sidebar .badge', { state: 'detached' })
    await expect.poll(async () => (await ada.notifications.list({ unread: true })).notifications).toEqual([])
    expect(await page.locator('.variants').allTextContents()).toEqual([])

    await choose(page, 'By steam.', 'Ask again')
    await answer('By water.')
    await shows('2/2', ['By water.'])
    await page.press('.variants [aria-label="Previous answer"]', 'Enter')
    await shows('1/2', ['By steam.', 'Very hot.'])
    // The button that cannot go further keeps the focus.
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Previous answer')
    await look(page, 'variants')

    // What is asked next follows the answer that is shown.
    await write(page, 'conversation', 'And loud?')
    await answer('Very loud.')
    await shows('1/2', ['By steam.', 'Very hot.', 'Very loud.'])
    await page.press('.variants [aria-label="Next answer"]', 'Enter')
    await shows('2/2', ['By water.'])

    // The address of a message shows the answer that it follows.
    const { messages } = await ada.messages.list(conversation_id, { view: 'all' })
    expect(messages.map(({ content, variant_of }) => [content, variant_of])).toContainEqual([
      'By water.',
      messages[0]!.id,
    ])
    await page.goto(`${url}/#/c/${conversation_id}/m/${messages.find(({ content }) => content === 'Very hot.')!.id}`)
    await shows('1/2', ['By steam.', 'Very hot.', 'Very loud.'])
    await page.goto(`${url}/#/`)
    await page.goto(`${url}/#/c/${conversation_id}`)
    await shows('2/2', ['By water.'])

    await write(page, 'conversation', 'Does it fail?')
    const failing = await puppet.asked()
    failing.fail(new Error('made for a test'))
    await page.waitForSelector('.note:has-text("The assistant could not answer.")')
    await page.reload()
    await page.waitForSelector('.note:has-text("The assistant could not answer.")')
    expect(problems).toEqual([])
  },
  120_000,
)

it.skipIf(!hasBrowser)(
  'asks another question in the place of an own one, and shows with each answer the question that it belongs to',
  async () => {
    const puppet = createPuppet()
    const { url, visit, problems } = await openStage({ assistant: puppet.assistant })
    const { ada, grace, signIn } = await openTalk(url)
    const { page } = await visit(url)
    await signIn(page, 'ada')
    const { conversation_id } = await ada.conversations.create({ title: 'Talk', layout: 'assistant' })
    const answer = async (text: string) => {
      const running = await puppet.asked()
      running.say(text)
      running.end()
      await page.waitForSelector(`.message[data-role=assistant]:has-text("${text}")`)
      return running.request.turns.at(-1)!.content
    }
    const texts = () => page.locator('.conversation .message .markdown').allTextContents()
    await page.goto(`${url}/#/c/${conversation_id}`)
    await page.waitForSelector('.stream[data-open=true]')
    await write(page, 'conversation', 'Why?')
    await answer('By steam.')
    await write(page, 'conversation', 'Is it hot?')
    await answer('Very hot.')
    const EDIT = '.question:has-text("Is it hot?") .at-hand [aria-label=Edit]'
    await page.hover('.question:has-text("Is it hot?")')
    await page.click(EDIT)
    await page.waitForSelector('.question .edit textarea:focus')
    await look(page, 'edit-question')
    await page.press('.question .edit textarea', 'Escape')
    await page.waitForSelector('.question .edit', { state: 'detached' })
    // As the last own message by an arrow up: the box keeps no text.
    await page.press('.conversation .composer textarea', 'ArrowUp')
    await page.waitForSelector('.question:has(.edit textarea:focus)')
    expect(await page.inputValue('.question .edit textarea')).toBe('Is it hot?')
    await page.fill('.question .edit textarea', 'Is it cold?')
    await page.press('.question .edit textarea', 'Enter')
    expect(await answer('Not at all.')).toBe('Is it cold?')
    await page.waitForSelector('.variants:has-text("2/2")')
    await expect.poll(texts).toEqual(['Why?', 'By steam.', 'Is it cold?', 'Not at all.'])
    await page.press('.variants [aria-label="Previous answer"]', 'Enter')
    await expect.poll(texts).toEqual(['Why?', 'By steam.', 'Is it hot?', 'Very hot.'])
    const { messages } = await ada.messages.list(conversation_id, { view: 'all' })
    expect(messages.map(({ prompt, variant_of, parent_id }) => [prompt, variant_of, parent_id])).toEqual([
      ['Why?', undefined, undefined],
      ['Is it hot?', undefined, messages[0]!.id],
      ['Is it cold?', messages[1]!.id, messages[0]!.id],
    ])

    // The questions of others are theirs.
    const { token = '' } = await ada.invites.create(conversation_id, {})
    await grace.invites.accept({ token })
    const { page: graces } = await visit(url)
    await signIn(graces, 'grace')
    await graces.goto(`${url}/#/c/${conversation_id}`)
    await graces.waitForSelector('.question:has-text("Why?")')
    expect(await graces.locator('.question [aria-label=Edit]').allTextContents()).toEqual([])
    expect(problems).toEqual([])
  },
  120_000,
)
