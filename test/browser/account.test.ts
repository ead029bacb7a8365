import { describe, expect, it } from 'vitest'
import { insertIdentity } from '../../lib/accounts/identities/store.ts'
import { MINUTE } from '../../lib/core/units.ts'
import { hasBrowser } from '../support/browser.ts'
import { createMailbox } from '../support/mailbox.ts'
import { innerState, UNREACHABLE_PROVIDER } from '../support/service.ts'
import { look } from './looks.ts'
import { expectOne, openStage, PASSWORD, signIn, signInAsAda } from './people.ts'

const NEW_PASSWORD = 'staple battery horse'
describe.skipIf(!hasBrowser)('the account screens', () => {
  it('change the names, the address, the password, devices, keys, providers and preferences', async () => {
    const box = createMailbox()
    let late = 0
    const config = {
      server: { public_url: 'http://127.0.0.1:1' },
      oauth: { acme: { ...UNREACHABLE_PROVIDER, title: 'Acme' } },
    }
    const stage = await openStage({ mail: box.deliver, now: () => Date.now() * 1000 + late }, config)
    const { chat } = stage
    const { page, ada } = await signInAsAda(stage)
    const other = await signIn(stage, 'ada@example.org', { locale: 'de-DE', colorScheme: 'dark' })
    const linked = { provider: 'acme', issuer: 'https://acme.example', subject: 'ada', user_id: ada.user_id }
    const context = innerState(chat)
    await context.write((tx) => insertIdentity(tx, { ...linked, id: context.id(), created_at: context.now() }))

    await page.click('[aria-label="Your account"]')
    await page.click('.panel a:text("Account and settings")')
    await page.waitForSelector('.settings h2:focus')
    await look(page, 'account-profile')
    await page.fill('[name=display_name]', 'Countess of Lovelace')
    await page.fill('[name=username]', ' ')
    await page.press('[name=username]', 'Enter')
    await page.waitForSelector('[name=username][aria-invalid]:focus')
    await page.fill('[name=username]', 'countess')
    await page.press('[name=username]', 'Enter')
    await page.waitForSelector('.identity:has-text("Countess of Lovelace"):has-text("@countess")')
    await page.fill('[name=email]', 'countess@example.org')
    await page.press('[name=email]', 'Enter')
    await page.waitForSelector('[role=status]:text("Open the link in the mail to countess@example.org.")')
    expect((await box.next()).to).toBe('countess@example.org')

    await page.click('.tabs a:text("Sign-in")')
    await page.waitForSelector('.items li:has-text("this device")')
    await page.waitForSelector('.items li:has-text("Acme")')
    await look(page, 'account-sign-in')
    await page.click('.items li:has-text("Acme") button')
    await page.click('dialog .danger')
    await page.waitForSelector('dialog', { state: 'detached' })
    await page.waitForSelector('.sheet:has-text("None is linked.")')
    await page.click('button:text-is("Sign out all other devices")')
    await page.click('dialog .danger')
    await other.page.waitForSelector('[role=status]:text("Deine Sitzung ist beendet.")')
    await page.waitForSelector('button:text-is("Sign out all other devices")', { state: 'detached' })
    await page.fill('[name=current_password]', 'a wrong one')
    await page.fill('[name=new_password]', NEW_PASSWORD)
    await page.press('[name=new_password]', 'Enter')
    await page.waitForSelector('.sheet [role=alert]:has-text("password is wrong")')
    await page.fill('[name=current_password]', PASSWORD)
    await page.press('[name=current_password]', 'Enter')
    await page.waitForSelector('.toast:has-text("The password is changed.")')

    await page.click('.tabs a:text("API keys")')
    await page.waitForSelector('.sheet:has-text("You have no keys.")')
    late = 11 * MINUTE
    await page.fill('[name=name]', 'Nightly report')
    await page.press('[name=name]', 'Enter')
    await page.fill('dialog [name=password]', NEW_PASSWORD)
    await look(page, 'account-confirm')
    await page.press('dialog [name=password]', 'Enter')
    await page.waitForSelector('dialog h2:has-text("Nightly report")')
    await look(page, 'account-key')
    const key = await page.inputValue('dialog input')
    const me = await fetch(`${stage.url}/api/auth/me`, { headers: { authorization: `Bearer ${key}` } })
    expect(await me.json()).toMatchObject({ user: { username: 'countess' } })
    await page.click('dialog .primary')
    await page.waitForSelector('.items li:has-text("Nightly report")')
    await look(page, 'account-keys')
    await page.click('.items li:has-text("Nightly report") button')
    await page.click('dialog .danger')
    await page.waitForSelector('.sheet:has-text("You have no keys.")')

    await page.click('.tabs a:text("Preferences")')
    await page.click('.sheet .check:has-text("Show others what I have read") input:enabled')
    await page.selectOption('.sheet select:has(option[value=de])', 'de')
    await page.selectOption('.sheet select:has(option[value=dark])', 'dark')
    await page.waitForSelector('html[lang=de] .settings h2:text("Konto und Einstellungen")')
    for (const tab of ['Einstellungen', 'API-Schlüssel', 'Anmeldung', 'Profil']) {
      await page.click(`.tabs a:text("${tab}")`)
      await page.waitForSelector(`.tabs [aria-current]:text("${tab}")`)
      await look(page, `account-de-${tab}`)
    }
    await page.reload()
    await expectOne(page, '.settings h2:text("Konto und Einstellungen")')
    expect(await page.evaluate('getComputedStyle(document.documentElement).backgroundColor')).toBe('rgb(23, 23, 31)')
    expect(await chat.auth.me(ada)).toMatchObject({ receipts: false })
    expect(stage.problems).toEqual([])
  })

  it('are what an application leaves of them that signs in itself', async () => {
    const identity = () => ({ subject: 'ada', display_name: 'Ada Lovelace' })
    const { url, visit, problems } = await openStage({ identity }, {}, { brand: { sign_in_url: '/login' } })
    const { page } = await visit(`${url}/#/account/security`)
    await page.waitForSelector('.sheet:has-text("Your name comes from the application you signed in to.")')
    expect(await page.locator('.tabs a').allTextContents()).toEqual(['Profile', 'Connected apps', 'Preferences'])
    await look(page, 'account-host')
    expect(problems).toEqual([])
  })
})
