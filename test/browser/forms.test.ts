import { describe, expect, it, onTestFinished } from 'vitest'
import { OPERATOR } from '../../lib/index.ts'
import { hasBrowser, openBrowser, type Page } from '../support/browser.ts'
import { startService } from '../support/service.ts'

describe.skipIf(!hasBrowser)('the forms of mailed links in a browser', () => {
  it('set a password, confirm an address and make an account, without a script', { timeout: 120_000 }, async () => {
    const tokens: string[] = []
    const service = await startService('sqlite::memory:', {
      ports: {
        mail({ token }) {
          tokens.push(token)
        },
      },
    })
    onTestFinished(service.close)
    const { email } = await service.signIn('founder')
    const context = await (await openBrowser()).newContext()
    const page: Page = await context.newPage()
    const problems: string[] = []
    page.on('pageerror', (error) => problems.push(String(error)))

    const { token } = await service.chat.resets.issue(OPERATOR, { email })
    await page.goto(`${service.base_url}/account/reset-password#token=${token}`)
    await page.fill('input[type=password]', 'short66')
    await page.click('button')
    await page.waitForSelector('[role=alert]')
    // The style of the page is applied: its policy allows it.
    expect(await page.evaluate('getComputedStyle(document.body).maxWidth')).toBe('416px')
    await page.fill('input[type=password]', 'incorrect pony')
    await page.click('button')
    await page.waitForSelector('[role=status]')
    expect(await page.locator('[role=status]').allTextContents()).toEqual([
      'Your new password is set. You can sign in with it now.',
    ])
    await service.client().auth.login({ email, password: 'incorrect pony' })

    const { user } = await service.chat.users.create(OPERATOR, {
      username: 'grace',
      email: 'grace@example.org',
      email_verified: false,
    })
    await service.chat.emails.sendVerification(await service.chat.users.actor(user.id))
    await expect.poll(() => tokens.filter(Boolean), { timeout: 60_000 }).toHaveLength(1)
    await page.goto(`${service.base_url}/account/verify-email#token=${tokens.find(Boolean)}`)
    expect((await service.chat.users.find(OPERATOR, 'grace')).email_verified).toBe(false)
    await page.click('button')
    await page.waitForSelector('[role=status]')
    expect((await service.chat.users.find(OPERATOR, 'grace')).email_verified).toBe(true)

    const { token: invite } = await service.chat.newcomers.invite(OPERATOR, { email: 'heidi@example.org', mail: false })
    await page.goto(`${service.base_url}/account/sign-up?token=${invite}`)
    await page.fill('#username', 'founder')
    await page.fill('#password', 'correct horse battery')
    await page.click('button')
    await page.waitForSelector('[role=alert]')
    await page.fill('#username', 'heidi')
    await page.fill('#password', 'correct horse battery')
    await page.click('button')
    await page.waitForSelector('[role=status]')
    expect((await context.cookies()).map(({ name }) => name)).toContain('SESSION_ID')
    expect(problems).toEqual([])
  })
})
