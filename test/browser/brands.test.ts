import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { look, lookInModes } from './looks.ts'
import { expectOne, openStage, signInAsAda, write } from './people.ts'

describe.skipIf(!hasBrowser).each([
  ['#ffd600', 'rgb(255, 214, 0)', 'rgb(0, 0, 0)'],
  ['#E53935', 'rgb(229, 57, 53)', 'rgb(0, 0, 0)'],
  ['oklch(40% 0.1 280)', 'rgb(62, 63, 124)', 'rgb(255, 255, 255)'],
])('a page with the accent %s', (accent, color, text) => {
  it('is readable in light, dark and more contrast', async () => {
    const stage = await openStage({}, {}, { brand: { name: 'Acme Support', colors: { accent } } })
    const { page, ada } = await signInAsAda(stage)
    const { conversation_id } = await stage.chat.conversations.create(ada, { title: 'Engines' })
    await page.goto(`${stage.url}/#/c/${conversation_id}`)
    await write(page, 'conversation', 'A [link](https://example.org), and @ada')
    await page.waitForSelector(':text("A link, and")')
    await expectOne(page, '.conversations a[aria-current=page]')
    const isWhole = `(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)(document.querySelector('.sidebar .brand .name'))`
    expect([
      await page.evaluate(`document.querySelector('.sidebar').offsetWidth`),
      await page.evaluate(isWhole),
    ]).toEqual([280, true])
    await look(page, `brand-${accent.replace(/\W+/g, '-')}`)
    await lookInModes(page, `brand-${accent.replace(/\W+/g, '-')}`)
    await page.fill('.conversation textarea', 'Ready')
    expect(
      await page.evaluate(
        `(({ backgroundColor, color }) => [backgroundColor, color])(getComputedStyle(document.querySelector('.send')))`,
      ),
    ).toEqual([color, text])
    expect(stage.problems).toEqual([])
  }, 120_000)
})
