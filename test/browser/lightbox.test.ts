import { describe, expect, it } from 'vitest'
import { hasBrowser, type Page } from '../support/browser.ts'
import { filesInFolder } from '../support/files-folder.ts'
import { look, lookInModes } from './looks.ts'
import { openDetails, openStage, signInAsAda } from './people.ts'

/** Pictures of 800 × 600 pixels; the last one is taller than the window. */
async function pictures(page: Page, count: number) {
  const addresses = (await page.evaluate(`Array.from({ length: ${count} }, (_, n) => {
    const height = n === ${count} - 1 ? 2400 : 600
    const canvas = Object.assign(document.createElement('canvas'), { width: 800, height })
    const context = canvas.getContext('2d')
    context.fillStyle = 'hsl(' + n * 50 + ' 60% 50%)'
    context.fillRect(0, 0, 800, height)
    return canvas.toDataURL('image/png')
  })`)) as string[]
  return addresses.map((address, n) => ({
    name: `picture-${n + 1}.png`,
    mimeType: 'image/png',
    buffer: Buffer.from(address.split(',')[1]!, 'base64'),
  }))
}

describe.skipIf(!hasBrowser)('the pictures of a message', () => {
  it('are four and a number, and open one after another, by keys', async () => {
    const stage = await openStage({}, { attachments: await filesInFolder() })
    const { page, ada } = await signInAsAda(stage)
    const { chat, url, problems } = stage
    const { conversation_id } = await chat.conversations.create(ada, { title: 'Engines' })
    await page.goto(`${url}/#/c/${conversation_id}`)
    await page.setInputFiles('.composer input[type=file]', await pictures(page, 6))
    await page.waitForSelector('.draft-files li:nth-child(6)')
    await page.press('.conversation .composer textarea', 'Enter')
    await page.waitForSelector('.message:not([data-pending]) .picture:has-text("+2")')
    expect(await page.locator('.message .picture').allTextContents()).toHaveLength(4)
    // Their places are known before they are there.
    const SIZES = `Array.from(document.querySelectorAll('.picture img'), ({ clientWidth, clientHeight }) => [clientWidth, clientHeight])`
    expect(await page.evaluate(SIZES)).toEqual(Array.from({ length: 4 }, () => [213, 160]))
    await look(page, 'pictures')

    await page.press('.message li:nth-child(2) .picture', 'Enter')
    await page.waitForSelector('.lightbox:has-text("2 of 6") img[alt="picture-2.png"]')
    await page.waitForSelector('.lightbox:has-text("Ada Lovelace") a[download="picture-2.png"]')
    await page.press('.lightbox', 'ArrowRight')
    await page.waitForSelector('.lightbox img[alt="picture-3.png"]')
    await page.press('.lightbox', 'ArrowLeft')
    await page.press('.lightbox', 'ArrowLeft')
    await page.waitForSelector('.lightbox img[alt="picture-1.png"]')
    await page.waitForSelector('.lightbox [aria-label="Previous picture"]:disabled')
    await look(page, 'lightbox')
    await lookInModes(page, 'lightbox')
    await page.click('.lightbox button:text-is("Zoom")')
    await page.waitForSelector('.lightbox [aria-pressed=true]')
    expect(await page.evaluate(`document.querySelector('.lightbox img').clientWidth`)).toBe(800)
    await page.press('.lightbox', 'Escape')
    await page.waitForSelector('.lightbox', { state: 'detached' })
    await page.waitForSelector('.message li:nth-child(2) .picture:focus')

    await openDetails(page, 'Files')
    await page.click('.shared-files [aria-label="Show picture-5.png"]')
    await page.waitForSelector('.lightbox:has-text("of 6") img[alt="picture-5.png"]')
    await page.press('.lightbox', 'ArrowRight')
    await page.waitForSelector('.lightbox img[alt="picture-6.png"]')
    expect(
      await page.evaluate(`document.querySelector('.lightbox img').getBoundingClientRect().bottom <= innerHeight`),
    ).toBe(true)
    await page.press('.lightbox', 'Escape')
    await page.waitForSelector('.lightbox', { state: 'detached' })
    await page.waitForSelector('.details [aria-label="Show picture-5.png"]:focus')
    await look(page, 'details-pictures')
    expect(problems).toEqual([])
  })
})
