import { expect, it } from 'vitest'
import { hasBrowser, type Page } from '../support/browser.ts'
import { openStage, signInAsAda } from './people.ts'

/** How many pixels of the results are other than the one at their corner, in a picture of the window. */
async function drawnPixels(page: Page): Promise<number> {
  const picture = ((await page.screenshot({})) as Buffer).toString('base64')
  return (await page.evaluate(`(async () => {
    const image = new Image()
    image.src = 'data:image/png;base64,${picture}'
    await image.decode()
    const canvas = document.createElement('canvas')
    const { left, top, width, height } = document.querySelector('.found').getBoundingClientRect()
    const scale = image.width / innerWidth
    canvas.width = width * scale
    canvas.height = Math.min(height, innerHeight - top) * scale
    const context = canvas.getContext('2d')
    context.drawImage(image, -left * scale, -top * scale)
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height)
    let count = 0
    for (let at = 4; at < data.length; at += 4)
      if (Math.abs(data[at] - data[0]) + Math.abs(data[at + 1] - data[1]) + Math.abs(data[at + 2] - data[2]) > 60) count++
    return count
  })()`)) as number
}

it.skipIf(!hasBrowser)(
  'the results of 30 searches with typed filters are drawn',
  async () => {
    const stage = await openStage({})
    const { chat } = stage
    const { page, ada } = await signInAsAda(stage)
    const { conversation_id } = await chat.conversations.create(ada, { title: 'Engines' })
    const { root_id } = await chat.messages.postRoot(ada, conversation_id, { content: 'Steam' })
    for (let n = 0; n < 30; n++) await chat.messages.reply(ada, root_id, { content: `Steam ${n} https://example.org` })
    const filters = ['from:me', 'in:Engines', 'has:link', 'from:me has:link', 'in:eng from:me', 'after:2001-01-01']
    for (let n = 0; n < 30; n++) {
      // Five begin anew.
      if (n % 6 === 0) {
        await page.goto(`${stage.url}/#/search`)
        await page.reload()
        await page.waitForSelector('.search [type=search]')
      }
      await page.fill('.search [type=search]', `${n} ${filters[n % filters.length]}`)
      await page.press('.search [type=search]', 'Enter')
      await page.waitForSelector('.search [role=status]:text-is("1 message")')
      await page.waitForSelector(`.found mark:text-is("${n}")`)
      expect([n, (await drawnPixels(page)) > 200]).toEqual([n, true])
    }
    expect(stage.problems).toEqual([])
  },
  120_000,
)
