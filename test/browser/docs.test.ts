import { describe, expect, it } from 'vitest'
import { search } from '../../examples/web-chat/src/docs/document.ts'
import { hasBrowser, type Page } from '../support/browser.ts'
import { look } from './looks.ts'
import { openStage, PASSWORD } from './people.ts'

/** Creates the first account, which is then signed in. */
async function setUp(page: Page): Promise<void> {
  await page.fill('[name=email]', 'ada@example.org')
  await page.fill('[name=password]', PASSWORD)
  await page.click('button[type=submit]')
  await page.waitForSelector('.conversation h2:text-is("General")')
}

/** Sends the form, and waits for a response. @returns its status line and its body */
async function send(page: Page): Promise<[string, string]> {
  await page.click('.try button[type=submit]')
  await page.waitForSelector('.try [role=status] .result')
  const [status = ''] = await page.locator('.result strong').allTextContents()
  const [body = ''] = await page.locator('.result pre').allTextContents()
  return [status, body]
}

describe.skipIf(!hasBrowser)('the page of the API', () => {
  it('finds an endpoint, and calls it with the session of the browser', async () => {
    const { url, visit, problems } = await openStage({})
    const { page } = await visit(`${url}/docs`)
    await page.waitForSelector('.session:text("Not signed in")')
    await look(page, 'docs')
    await page.click('.docs > header a:text("To the chat")')
    await setUp(page)
    await page.goto(`${url}/docs`)
    await page.waitForSelector('.session:text("Signed in as")')

    await page.fill('[type=search]', 'no such endpoint')
    await page.waitForSelector('[role=status]:text("No matches")')
    await page.fill('[type=search]', 'create conversation')
    await page.click('nav a[title="POST /api/conversations"]')
    await page.waitForSelector('h2:text("Create a conversation")')
    await page.fill('.try textarea', '{')
    await page.click('.try button[type=submit]')
    await page.waitForSelector('.try .error:text("This is not JSON.")')
    await page.fill('.try textarea', '{ "title": "Engines" }')
    const [created, body] = await send(page)
    expect(created).toMatch(/^201 in \d+ ms$/)
    const { conversation_id: id } = JSON.parse(body) as { conversation_id: string }
    await look(page, 'docs-operation')

    await page.goto(`${url}/docs#conversationsGet`)
    await page.waitForSelector('h2:text("Read a conversation with its participants")')
    await page.fill('.try input', id)
    expect(await page.locator('.request').allTextContents()).toEqual([`GET /api/conversations/${id}`])
    expect(JSON.parse((await send(page))[1])).toMatchObject({ id, title: 'Engines' })
    await page.click('.response .fields li:has(> .name:text("participants")) > button')
    await page.waitForSelector('.response .fields .fields .name:text("display_name")')

    await page.goto(`${url}/docs#eventsStreamAll`)
    await page.click('.try button[type=submit]')
    await page.waitForSelector('.result pre:has-text("event: stream.ready")')
    await page.click('button:text("Stop")')
    await page.waitForSelector('button:text("Stop")', { state: 'detached' })
    expect(problems).toEqual([])
  })

  it('is dark and German where the browser is', async () => {
    const { url, visit, problems } = await openStage({})
    const { page } = await visit(`${url}/docs#authLogin`, { locale: 'de-DE', colorScheme: 'dark' })
    await page.waitForSelector('html[lang=de] h3:text("Ausprobieren")')
    await look(page, 'docs-german')
    expect(problems).toEqual([])
  })
})

it.each([
  ['', ['a', 'b']],
  ['  LIST  pins ', ['a']],
  ['post', ['b']],
  ['{message_id}', ['b']],
  ['pins reply', []],
])('the query %j finds %j', (query, ids) => {
  const more = { description: '', responses: [], parameters: [] }
  const operations = [
    { ...more, operationId: 'a', method: 'GET', path: '/api/pins', summary: 'List pins', tag: 'Threads' },
    { ...more, operationId: 'b', method: 'POST', path: '/api/{message_id}', summary: 'Reply', tag: 'Threads' },
  ]
  expect(search(operations, query).map(({ operationId }) => operationId)).toEqual(ids)
})
