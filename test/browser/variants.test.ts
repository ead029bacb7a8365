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
  90_000,
)
