import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { bundle } from './bundle.ts'
import { openStage } from './people.ts'
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
  }, 60_000)
})
