import { describe, expect, it } from 'vitest'
import { hasBrowser, type Page } from '../support/browser.ts'
import { bundle } from './bundle.ts'
import { look, lookInModes } from './looks.ts'
import { closeDetails, openStage } from './people.ts'
import { openTalk } from './talk.ts'

/** Draws a picture, sets it as the photo of the user, and decodes what the service returns of it. */
const exchange = (type: string) => `(async () => {
  const canvas = Object.assign(document.createElement('canvas'), { width: 60, height: 40 })
  const context = canvas.getContext('2d')
  context.fillStyle = 'rgb(200, 40, 40)'
  context.fillRect(0, 0, 60, 40)
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, '${type}'))
  const { avatar_url } = await client.auth.setAvatar(blob)
  const image = new Image()
  image.src = avatar_url
  await image.decode()
  context.clearRect(0, 0, 60, 40)
  context.drawImage(image, 0, 0)
  const [red, green, blue] = context.getImageData(30, 20, 1, 1).data
  const isRed = Math.abs(red - 200) < 12 && Math.abs(green - 40) < 12 && Math.abs(blue - 40) < 12
  return [blob.type, image.naturalWidth, image.naturalHeight, isRed]
})()`

/** A picture of a color, whose left third is blue. */
async function picture(page: Page, color: string, width = 60): Promise<Blob> {
  const address = (await page.evaluate(`(() => {
    const canvas = Object.assign(document.createElement('canvas'), { width: ${width}, height: 40 })
    const context = canvas.getContext('2d')
    context.fillStyle = '${color}'
    context.fillRect(0, 0, ${width}, 40)
    context.fillStyle = 'blue'
    context.fillRect(0, 0, ${width / 3}, 40)
    return canvas.toDataURL('image/png')
  })()`)) as string
  return (await fetch(address)).blob()
}

/** The width and the height of a photo. */
const sizeOf = (address: string) => `(async () => {
  const { width, height } = await createImageBitmap(await (await fetch('${address}')).blob())
  return [width, height]
})()`

describe.skipIf(!hasBrowser)('the photo of a user', () => {
  it('is decoded by a browser as the user has set it, in each format', async () => {
    const stage = await openStage({})
    const talk = await openTalk(stage.url)
    const { page } = await stage.visit(stage.url)
    await talk.signIn(page, 'ada')
    await page.evaluate(await bundle("export * from './lib/client/index.ts'"))
    await page.evaluate('client = chat.createChatClient({ base_url: location.origin })')
    for (const type of ['image/jpeg', 'image/png', 'image/webp'])
      expect(await page.evaluate(exchange(type))).toEqual([type, 60, 40, true])
    await page.evaluate('client.auth.removeAvatar()')
    expect((await talk.ada.auth.me()).user.avatar_url).toBeUndefined()
  })

  it('is shown wherever the person is, and another one without a reload; letters where it is broken', async () => {
    const { url, visit, problems } = await openStage({})
    const { ada, grace, conversation_id, signIn } = await openTalk(url)
    const { user } = await grace.auth.me()
    await ada.conversations.direct({ user_id: user.id })
    await grace.messages.postRoot(conversation_id, { content: 'It does' })
    const { page } = await visit(url)
    await signIn(page, 'ada')
    await page.goto(`${url}/#/c/${conversation_id}`)
    const places = ['.conversations a', '.message:has-text("It does")']
    for (const place of places) await page.waitForSelector(`${place} .avatar[data-initials="G"]`)
    const first = await grace.auth.setAvatar(await picture(page, 'rgb(40, 90, 200)'))
    for (const place of places) await page.waitForSelector(`${place} .avatar img[src$="${first.avatar_url}"]`)
    const second = await grace.auth.setAvatar(await picture(page, 'rgb(200, 90, 40)'))
    for (const place of places) await page.waitForSelector(`${place} .avatar img[src$="${second.avatar_url}"]`)
    await page.click('.people-button')
    await page.waitForSelector(`.participants .avatar img[src$="${second.avatar_url}"]`)
    await closeDetails(page)
    await look(page, 'photos')
    await page.evaluate(`document.querySelector('.message .avatar img').dispatchEvent(new Event('error'))`)
    await page.waitForSelector('.message .avatar[data-initials="G"]')
    await grace.auth.removeAvatar()
    for (const place of places) await page.waitForSelector(`${place} .avatar[data-initials="G"]`)
    expect(problems).toEqual([])
  })

  it('is chosen from the own card, cropped by keys to 512 pixels a side, and removed in the account', async () => {
    const { url, visit, problems } = await openStage({})
    const { ada, conversation_id, signIn } = await openTalk(url)
    await ada.messages.postRoot(conversation_id, { content: 'Does it run?' })
    const { page } = await visit(url)
    await signIn(page, 'ada')
    await page.goto(`${url}/#/c/${conversation_id}`)
    await page.click('.message .author')
    await page.waitForSelector('dialog button:text-is("Add a photo")')
    await page.setInputFiles('.own-photo input', [{ name: 'a.png', mimeType: 'image/png', buffer: Buffer.from('no') }])
    await page.waitForSelector('.own-photo [role=alert]:has-text("Choose a JPEG or PNG")')
    await page.setInputFiles('.own-photo input', [
      {
        name: 'a.png',
        mimeType: 'image/png',
        buffer: Buffer.from(await (await picture(page, 'red', 130)).arrayBuffer()),
      },
    ])
    await page.waitForSelector('dialog canvas')
    expect(await page.locator('.own-photo [role=alert]').allTextContents()).toEqual([])
    await look(page, 'photo-crop')
    await lookInModes(page, 'photo-crop')
    // The left third of the picture is blue.
    const CORNER = `[...document.querySelector('dialog canvas').getContext('2d').getImageData(2, 256, 1, 1).data].slice(0, 3)`
    expect(await page.evaluate(CORNER)).toEqual([255, 0, 0])
    for (let n = 0; n < 20; n++) await page.press('dialog canvas', 'ArrowLeft')
    await expect.poll(() => page.evaluate(CORNER)).toEqual([0, 0, 255])
    await page.press('dialog canvas', '+')
    await page.click('dialog dialog button:text-is("Save")')
    await page.waitForSelector('dialog dialog', { state: 'detached' })
    await page.waitForSelector('.profile-card .avatar img')
    await page.waitForSelector('dialog button:text-is("Change photo")')
    await page.waitForSelector('.sidebar > header .avatar img')
    const { avatar_url } = (await ada.auth.me()).user
    expect(await page.evaluate(sizeOf(avatar_url!))).toEqual([512, 512])
    await page.press('dialog', 'Escape')
    await page.goto(`${url}/#/account/profile`)
    await page.waitForSelector('.identity .avatar img')
    await look(page, 'photo-account')
    await page.click('button:text-is("Remove photo")')
    await page.waitForSelector('.sidebar > header .avatar[data-initials]')
    expect((await ada.auth.me()).user.avatar_url).toBeUndefined()
    expect(problems).toEqual([])
  })
})
