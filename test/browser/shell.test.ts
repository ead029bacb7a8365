import { expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { openStage, signInAsAda } from './people.ts'

const SIZES = [
  [1440, 900],
  [1280, 800],
  [768, 1024],
  [390, 430],
  [320, 640],
] as const

/** How much longer the document is than the window, and how far it was scrolled, once the next frames are drawn. */
const SCROLLED = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => {
  const { scrollHeight, scrollWidth, scrollTop } = document.scrollingElement
  resolve([scrollHeight - innerHeight, scrollWidth - innerWidth, scrollTop])
})))`

it.skipIf(!hasBrowser)(
  'the document never scrolls, with 60 conversations that have unread messages',
  async () => {
    const stage = await openStage({})
    const { chat } = stage
    const { page, ada } = await signInAsAda(stage)
    const { user } = await chat.users.create(ada, { username: 'grace', email: 'grace@example.org' })
    const grace = await chat.users.actor(user.id)
    let last = ''
    for (let n = 0; n < 60; n++) {
      const { conversation_id } = await chat.conversations.create(ada, { title: `Room ${n}` })
      await chat.participants.add(ada, conversation_id, { username: 'grace' })
      await chat.messages.postRoot(grace, conversation_id, { content: 'Have you seen it, @ada?' })
      last = conversation_id
    }
    await page.goto(`${stage.url}/#/`)
    await page.waitForSelector('.conversations .badge >> nth=59', { state: 'attached' })
    for (const [width, height] of SIZES) {
      await page.setViewportSize({ width, height })
      await page.goto(`${stage.url}/#/`)
      await page.waitForSelector('.sidebar > header')
      for (const [route, places] of [
        ['#/', ['.sidebar > header', '.conversations']],
        [`#/c/${last}`, ['.conversation > header', '.conversation .composer']],
      ] as const) {
        await page.goto(`${stage.url}/${route}`)
        for (const place of places) {
          await page.waitForSelector(place)
          await page.hover(place)
          await page.mouse.wheel(0, 2_000)
          expect([width, height, place, await page.evaluate(SCROLLED)]).toEqual([width, height, place, [0, 0, 0]])
        }
      }
    }
    expect(stage.problems).toEqual([])
  },
  120_000,
)

it.skipIf(!hasBrowser)(
  'the box of a message grows with its text, up to a part of the window',
  async () => {
    const stage = await openStage({})
    const { page, ada } = await signInAsAda(stage)
    const { conversation_id } = await stage.chat.conversations.create(ada, { title: 'Engines' })
    await page.goto(`${stage.url}/#/c/${conversation_id}`)
    const heights: number[] = []
    for (const lines of [1, 5, 100]) {
      await page.fill('.composer textarea', 'line\n'.repeat(lines).trim())
      heights.push((await page.evaluate(`document.querySelector('.composer textarea').offsetHeight`)) as number)
    }
    expect(heights[1]! / heights[0]!).toBeGreaterThan(2)
    expect(heights[2]).toBeLessThanOrEqual(320)
    expect(await page.evaluate(`document.querySelector('.composer textarea').style.height`)).toBe('')
  },
  120_000,
)
