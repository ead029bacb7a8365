import { describe, expect, it } from 'vitest'
import { createPuppet } from '../support/assistant.ts'
import { hasBrowser } from '../support/browser.ts'
import { look } from './looks.ts'
import { address, choose, closeDetails, expectOne, openDetails, openStage, PASSWORD, textsOf, write } from './people.ts'

describe.skipIf(!hasBrowser)('the web chat', () => {
  it('takes two people from set-up to an answer that is cut and resumed', async () => {
    const puppet = createPuppet()
    const { url, visit, problems } = await openStage({ assistant: puppet.assistant })

    const { page: ada, context: network } = await visit(url, { permissions: ['notifications'] })
    await ada.waitForSelector('h1:text("Welcome")')
    await look(ada, 'set-up')
    await ada.fill('[name=display_name]', 'Ada Lovelace')
    await ada.fill('[name=email]', 'ada@example.org')
    await ada.fill('[name=password]', PASSWORD)
    await ada.click('button[type=submit]')
    await ada.waitForSelector('.conversation h2:text-is("General")')
    await ada.waitForSelector('.greeting')
    await look(ada, 'first-room')

    await ada.click('[aria-label="Your account"]')
    await ada.click('button:text("Sign out")')
    await ada.fill('[name=email]', 'ada@example.org')
    await ada.fill('[name=password]', 'wrong horse')
    await ada.press('[name=password]', 'Enter')
    await ada.waitForSelector('[role=alert]:text("The e-mail or the password is wrong.")')
    await look(ada, 'sign-in')
    await ada.fill('[name=password]', PASSWORD)
    await ada.press('[name=password]', 'Enter')

    await ada.click('[aria-label="New room"]')
    await look(ada, 'new-conversation')
    await ada.fill('dialog [name=title]', 'Engines\u202E')
    await ada.press('dialog [name=title]', 'Enter')
    await ada.waitForSelector('dialog .field:has([name=title][aria-invalid]) .wrong:has-text("must")')
    await ada.fill('dialog [name=title]', 'Engines')
    await ada.press('dialog [name=title]', 'Enter')
    await ada.waitForSelector('.conversations a[aria-current=page]:has-text("Engines")')
    await look(ada, 'conversation-empty')
    await openDetails(ada, 'Invite links')
    await ada.click('.invite button:has-text("Copy invite link")')
    const link = await ada.inputValue('.invite input')
    await ada.waitForSelector('.invite small:has-text("25 people")')
    await look(ada, 'invites')
    await closeDetails(ada)

    const { page: grace } = await visit(link, { colorScheme: 'dark' })
    await grace.waitForSelector('h1:text-is("Join Engines")')
    await grace.fill('[name=display_name]', 'grace')
    await grace.fill('[name=email]', 'grace@example.org')
    await grace.fill('[name=password]', PASSWORD)
    await look(grace, 'join')
    await grace.click('button[type=submit]')
    await grace.waitForSelector('h2:text("Engines")')
    expect(new URL(grace.url()).hash).toMatch(/^#\/c\/[\w-]{36}$/)
    await grace.goto(`${url}/#/threads`)

    await write(ada, 'conversation', 'Does it **run**?')
    await grace.waitForSelector('.conversations a[data-unread=true]:has-text("Does it run?")')
    expect(await grace.title()).toBe('Chat')
    await look(grace, 'unread')
    await grace.click('.conversations a')
    await grace.waitForSelector('.row:has-text("Does it run?") .unread-from')
    await grace.waitForSelector('.message strong:text("run")')
    await grace.waitForSelector('.conversations a[data-unread=true]', { state: 'detached' })

    for (const page of [grace, ada]) {
      await page.hover('.message:has-text("Does it run?")')
      await page.click('.message:has-text("Does it run?") [aria-label="Reply in thread"]')
      await page.waitForSelector('.thread .message:has-text("Does it run?")')
    }
    await grace.fill('.thread textarea', 'It runs')
    await ada.waitForSelector('.thread .typing:text("grace is typing…")')
    await grace.press('.thread textarea', 'Enter')
    await ada.waitForSelector('.message:has-text("It runs")')
    await ada.hover('.message:has-text("It runs")')
    await ada.click('.message:has-text("It runs") [aria-label=React]')
    await ada.click('.emoji button')
    await grace.waitForSelector('.reaction:has-text("1")')
    await choose(grace, 'It runs', 'Edit')
    await grace.fill('.edit textarea', 'It runs, mostly')
    await grace.press('.edit textarea', 'Enter')
    await ada.waitForSelector('.message:has-text("It runs, mostly") .tag:text("edited")')

    await write(grace, 'thread', 'A branch')
    await ada.hover('.message:has-text("A branch")')
    await ada.click('.message:has-text("A branch") [aria-label=Reply]')
    await expectOne(ada, '.replying:has-text("Reply to grace")')
    await write(ada, 'thread', 'Inside of it')
    await grace.waitForSelector('.message:has-text("Inside of it")')
    await expectOne(grace, '.message:has-text("Inside of it") .quote:has-text("A branch")')

    await address(ada, 'thread', 'Assistant')
    await write(ada, 'thread', 'Why?')
    const answer = await puppet.asked()
    answer.say('Because of *steam*, ')
    await grace.waitForSelector('.message[data-role=assistant] em:text("steam")')
    await look(grace, 'answer')
    await ada.reload()
    await ada.waitForSelector('.message[data-role=assistant] em:text("steam")')
    answer.say('and of\n\n```js\nconst engine = "difference"\n```')
    answer.end()
    await ada.waitForSelector('.message[data-role=assistant] pre:has-text("difference")')
    await ada.waitForSelector('.thread [aria-label=Stop]', { state: 'detached' })

    // After an answer, what is written goes to the assistant, also when the page was loaded again.
    await ada.waitForSelector('.thread [aria-label="To: Assistant"]')
    await write(ada, 'thread', 'More?')
    const endless = await puppet.asked()
    endless.say('On and on')
    await ada.click('.thread .composer [aria-label=Stop]')
    await endless.aborted
    await grace.waitForSelector('.note:text("Stopped.")')
    await ada.waitForSelector('.conversations a[data-unread=true]', { state: 'detached' })
    await look(ada, 'thread')

    await ada.click('.inbox-button')
    await ada.click('.check:has-text("Notify me on this device") input')
    await ada.goto(`${url}/#/threads`)
    // Somewhere else, as far as the page knows; the browser of a test shows no notifications.
    await ada.evaluate(`document.hasFocus = () => false
      window.alerts = []
      window.Notification = class { constructor(title) { alerts.push(title) } }`)
    await grace.fill('.thread .composer textarea', 'Have you seen it, @love')
    await grace.waitForSelector('[role=option][aria-selected=true]:has-text("Ada Lovelace")')
    await look(grace, 'completion')
    await grace.press('.thread .composer textarea', 'Enter')
    expect(await grace.inputValue('.thread .composer textarea')).toMatch(/^Have you seen it, @\w+ $/)
    await grace.press('.thread .composer textarea', 'Enter')
    await grace.waitForSelector('.mention[data-self=false]')
    await ada.waitForSelector('.conversations .badge:has-text("1 for you")')
    await ada.waitForSelector('.inbox-button .badge:has-text("1")')
    expect(await ada.title()).toBe('(1) Chat')
    await ada.click('.inbox-button')
    await ada.waitForSelector('.inbox a:has-text("grace mentioned you")')
    expect(await ada.evaluate('delete document.hasFocus && alerts')).toEqual(['grace mentioned you – Chat'])
    await look(ada, 'inbox')
    await ada.click('.inbox a')
    await expectOne(ada, '.thread .messages > [data-target=true]:has-text("Have you seen it")')
    await ada.waitForSelector('.mention[data-self=true]')
    await ada.waitForSelector('.inbox-button .badge', { state: 'detached' })

    await choose(ada, 'Have you seen it', 'Pin')
    await ada.waitForSelector('.message:has-text("Have you seen it") .tag:text("pinned")')
    const threads = [ada.url(), grace.url()] as const
    await openDetails(ada, 'Policies')
    await ada.click('.details .check:has-text("Show who has read a message") input')
    await openDetails(ada, 'Notifications')
    await ada.selectOption('.details select:has(option[value=forever])', 'forever')
    await ada.waitForSelector('.conversations a[data-muted=true]')
    await closeDetails(ada)
    await ada.goto(threads[0])
    await choose(ada, 'Have you seen it', 'Read by')
    await ada.waitForSelector('dialog .participants li:has-text("Ada Lovelace")')
    await ada.press('dialog', 'Escape')
    await ada.click('.message:has-text("It runs, mostly") .tag:text("edited")')
    await ada.waitForSelector('dialog .revisions p:text-is("It runs")')
    await ada.press('dialog', 'Escape')
    await ada.click('.people-button')
    await ada.selectOption('.details li:has-text("grace") select', 'admin')
    await grace.click('.people-button')
    await grace.waitForSelector('.details li:has-text("Ada Lovelace") .role')
    await grace.goto(threads[1])
    await ada.goto(threads[0])

    await choose(ada, 'Because of steam', 'Ask again')
    const second = await puppet.asked()
    second.say('Because of *water*')
    second.end()
    await grace.waitForSelector('.question:has-text("Why?") + .message[data-role=assistant] em:text("water")')
    await choose(ada, 'Because of water', 'Good answer')
    await ada.waitForSelector('.toast:has-text("noted")')
    await choose(ada, 'Because of water', 'Not a good answer after all')
    await ada.waitForSelector('.toast:has-text("taken back")')
    await openDetails(ada, 'About')
    await ada.click('.details button:text-is("Archive")')
    await ada.click('.archive')
    await ada.click('.archived .conversations a:has-text("Engines")')
    await openDetails(ada, 'About')
    await ada.click('.details button:text-is("Unarchive")')
    await ada.waitForSelector('.archived:has-text("Nothing is archived.")')
    await ada.click('.archive')
    await ada.waitForSelector('.conversations a:has-text("Engines")')
    await openDetails(ada, 'Pins')
    await ada.click('.details .pins a:has-text("Have you seen it")')
    await ada.waitForSelector('.thread .messages > [data-target=true]:has-text("Have you seen it")')

    await network.setOffline(true)
    await ada.waitForSelector('.banner:has-text("You’re offline")')
    await write(ada, 'thread', 'From the train')
    await ada.waitForSelector('.note:has-text("Waiting to be sent.")')
    await look(ada, 'offline')
    await network.setOffline(false)
    await grace.waitForSelector('.message:has-text("From the train")')
    await ada.waitForSelector('.note:has-text("Waiting to be sent.")', { state: 'detached' })
    await expectOne(ada, '.message:has-text("From the train")')
    expect(await textsOf(grace)).toEqual(await textsOf(ada))

    const tab = await network.newPage()
    await tab.goto(url)
    await tab.click('[aria-label="Your account"]')
    await tab.click('button:text("Sign out")')
    await ada.waitForSelector('[role=status]:text("Your session has ended.")')
    await tab.close()
    expect(problems).toEqual([])
  }, 240_000)

  it('is that of an application which signs in itself', async () => {
    const brand = { name: 'Acme', colors: { accent: '#0a7d55' }, sign_in_url: '/login' }
    const { url, visit, problems } = await openStage({ identity: () => undefined }, {}, { brand })
    const { page } = await visit(url)
    await page.waitForSelector('h1:text("Sign in to Acme")')
    await look(page, 'host')
    expect(
      await page.evaluate(`[document.querySelector('.primary').href, document.querySelectorAll('input').length,
        getComputedStyle(document.querySelector('.primary')).backgroundColor]`),
    ).toEqual([`${url}/login`, 0, 'rgb(10, 125, 85)'])
    expect(problems).toEqual([])
  })

  it('shows what others write as text and safe elements, whatever it is', async () => {
    const { url, visit, problems } = await openStage({})
    const { page } = await visit(url, { locale: 'de-DE' })
    await page.waitForSelector('html[lang=de] h1:text("Willkommen")')
    await page.fill('[name=email]', 'ada@example.org')
    await page.fill('[name=password]', PASSWORD)
    await page.click('button[type=submit]')
    await page.waitForSelector('.conversation h2:text-is("Allgemein")')
    await page.click('[aria-label="Neuer Raum"]')
    const title = `${'Donaudampfschifffahrtsgesellschaft'.repeat(4)} <b>מנוע</b>`
    await page.fill('dialog [name=title]', title)
    await page.press('dialog [name=title]', 'Enter')
    await page.waitForSelector('.conversation h2:has-text("Donaudampf")')
    await write(page, 'conversation', HOSTILE)
    await page.waitForSelector('.message table')
    const found = await page.evaluate(`({
      links: [...document.querySelectorAll('.markdown a')].map(({ href, rel, target }) => [href, rel, target]),
      foreign: document.querySelectorAll('.markdown :is(img, script, iframe, b, form, input)').length,
      text: document.querySelector('.markdown').textContent,
    })`)
    expect(found).toEqual({
      links: [
        ['https://example.org/a?b=c&d', 'noopener noreferrer', '_blank'],
        ['mailto:ada@example.org', 'noopener noreferrer', '_blank'],
        ['https://example.org/image.png', 'noopener noreferrer', '_blank'],
      ],
      foreign: 0,
      text: expect.stringContaining('<img src=x onerror="document.title=1">'),
    })
    await look(page, 'hostile')
    expect(problems).toEqual([])
  })
})

const HOSTILE = `# A heading

<script>document.title = 'run'</script> <img src=x onerror="document.title=1"> <b>bold</b> &lt;i&gt; &copy; &#128077;

[good](https://example.org/a?b=c&d) <ada@example.org> ![picture](https://example.org/image.png)
[bad](javascript:alert(1)) [bad](data:text/html,x) [bad](//example.org) [bad](vbscript:x) [ref]

[ref]: javascript:alert(1)

| one | two |
|:----|----:|
| 1   | ${'wide '.repeat(60)} |

1. ordered
   - [x] done
   - [ ] open

> quoted ${'averylongword'.repeat(30)}

\`\`\`html
<script>alert(1)</script>${' and on'.repeat(60)}
\`\`\`

---
~~struck~~ \`code\` **strong *both***`
