import type { DetailsTab, Route } from '../../examples/web-chat/src/app/route.ts'
import type { Page } from '../support/browser.ts'
import type { Places } from './gallery-story.ts'

/** A screen in one of its states. */
export interface Screen {
  /** Behind the `#` of the address. */
  at: string
  /** What is there once it is shown. */
  sign: string
  /** What the user does then. */
  act?: (page: Page) => Promise<unknown>
  /** Ada, who has all of it, if not said; another address signs in, `null` does not. */
  as?: string | null
  /** What the service does not answer, or with an error, or what else keeps it away. */
  state?: { held: RegExp } | { failed: RegExp } | 'offline'
}

/** The screens of each route: a new route does not compile without one. */
export type Screens = Record<Route['name'] | 'signed-out' | 'over', Record<string, Screen>>

/** How tokens of links are written. */
const TOKEN = 'a'.repeat(43)
const HELD =
  /\/api\/(conversations|notifications|threads|messages|search|users|drafts|admin|auth\/(keys|sessions|identities))/

export function screensOf(places: Places): Screens {
  const { engine, root, hostile, crowded, crowdedRoot, long, empty } = places
  const ofDetails = (room: string, tab: DetailsTab) => ({
    at: `/c/${room}/details/${tab}`,
    sign: '.details .tabs a[aria-current]',
    act: (page: Page) => page.waitForSelector('.details .sheet > *'),
  })
  const room = (id: string, sign = '.stream .row'): Screen => ({ at: `/c/${id}`, sign: `.conversation ${sign}` })
  const click = (selector: string, sign: string) => async (page: Page) => {
    await page.click(selector)
    await page.waitForSelector(sign)
  }
  return {
    home: {
      list: { at: '/', sign: '.conversations a' },
      'list-empty': { at: '/', sign: '.sidebar', as: 'new@example.org' },
      'list-loading': { at: '/', sign: '.sidebar .outline', state: { held: HELD } },
      'list-failed': { at: '/', sign: '.sidebar .error', state: { failed: HELD } },
    },
    inbox: {
      inbox: { at: '/inbox', sign: '.inbox li' },
      'inbox-all': { at: '/inbox/all', sign: '.inbox li' },
      'inbox-empty': { at: '/inbox', sign: '.settings p', as: 'new@example.org' },
      'inbox-loading': { at: '/inbox', sign: '.settings .outline', state: { held: HELD } },
      'inbox-failed': { at: '/inbox', sign: '.settings .error', state: { failed: HELD } },
    },
    threads: {
      threads: { at: '/threads', sign: '.inbox li' },
      'threads-empty': { at: '/threads', sign: '.settings p', as: 'new@example.org' },
      'threads-loading': { at: '/threads', sign: '.settings .outline', state: { held: HELD } },
      'threads-failed': { at: '/threads', sign: '.settings .error', state: { failed: HELD } },
    },
    browse: {
      'browse-empty': { at: '/browse', sign: '.settings p' },
      'browse-loading': { at: '/browse', sign: '.settings .outline', state: { held: HELD } },
      'browse-failed': { at: '/browse', sign: '.settings .error', state: { failed: HELD } },
    },
    drafts: {
      'drafts-empty': { at: '/drafts', sign: '.settings p' },
      drafts: {
        at: `/c/${engine}`,
        sign: '.conversation .composer textarea',
        act: async (page) => {
          await page.fill('.conversation .composer textarea', 'The wheel of the tens is worn, and')
          await page.evaluate(`location.hash = '#/drafts'`)
          await page.waitForSelector('.inbox li')
        },
      },
    },
    conversation: {
      room: room(engine),
      'room-direct': room(places.direct),
      'room-empty': room(empty, '.greeting'),
      'room-topics': room(places.topics, '.thread-card'),
      'room-topics-empty': room(places.emptyTopics, 'textarea'),
      'room-assistant': room(places.talk, '.variants'),
      'room-answer-failed': room(places.failed, '.message'),
      'room-answer-running': room(places.running, '.message:has-text("then")'),
      'room-long': room(long),
      'room-long-direct': room(places.longDirect),
      'room-unread': room(crowded),
      'room-everything': room(hostile),
      'room-message': { at: `/c/${engine}/m/${root}`, sign: '[data-target=true]' },
      'room-missing': { at: `/c/${TOKEN.slice(7)}`, sign: '.conversation .error, .conversation p' },
      'room-loading': { ...room(engine, '.outline'), state: { held: HELD } },
      'room-failed': { ...room(engine, '.error'), state: { failed: HELD } },
      'room-offline': { ...room(engine), state: 'offline' },
      'room-not-sent': {
        ...room(engine),
        act: async (page) => {
          await page.route(/\/root$/, (route) => route.abort('connectionreset'))
          await page.fill('.conversation .composer textarea', 'From the train')
          await page.click('.conversation .composer .send')
          await page.waitForSelector('[data-pending=failed]')
        },
      },
      'room-editing': {
        ...room(hostile),
        act: async (page) => {
          await page.press('.conversation .composer textarea', 'ArrowUp')
          await page.waitForSelector('.message form textarea')
        },
      },
      'room-composing': {
        ...room(engine),
        act: async (page) => {
          await page.setInputFiles('.conversation .composer input[type=file]', [
            { name: 'a-very-long-name-of-a-file-of-march-1843.txt', mimeType: 'text/plain', buffer: Buffer.from('x') },
          ])
          await page.fill('.conversation .composer textarea', 'One line\nand another one\n- and a list')
          await page.waitForSelector('.draft-files [data-status=ready]')
        },
      },
      'room-mention': {
        ...room(engine),
        act: async (page) => {
          await page.fill('.conversation .composer textarea', '')
          await page.keyboard.type('@')
          await page.waitForSelector('.completion [role=option], [role=listbox] [role=option]')
        },
      },
    },
    thread: {
      thread: { at: `/c/${engine}/t/${root}`, sign: '.thread .message[data-role=assistant] pre' },
      'thread-crowded': { at: `/c/${crowded}/t/${crowdedRoot}`, sign: '.thread .message:has-text("Card")' },
      'thread-tree': {
        at: `/c/${engine}/t/${root}`,
        sign: '.thread .message[data-role=assistant]',
        act: async (page) => {
          await page.click('.thread > header .menu > button')
          await page.click('.thread > header .panel button:text-is("As a tree")')
          await page.waitForSelector('.thread:not(:has(.stream)) .message')
        },
      },
      'thread-loading': { at: `/c/${engine}/t/${root}`, sign: '.thread .outline', state: { held: HELD } },
      'thread-failed': { at: `/c/${engine}/t/${root}`, sign: '.thread .error', state: { failed: HELD } },
    },
    details: {
      about: ofDetails(engine, 'about'),
      people: ofDetails(engine, 'people'),
      'people-long': ofDetails(long, 'people'),
      pins: ofDetails(hostile, 'pins'),
      'pins-empty': ofDetails(empty, 'pins'),
      files: ofDetails(hostile, 'files'),
      'files-empty': ofDetails(empty, 'files'),
      'files-long': ofDetails(long, 'files'),
      notifications: ofDetails(engine, 'notifications'),
      invites: ofDetails(engine, 'invites'),
      integrations: ofDetails(engine, 'integrations'),
      'integrations-empty': ofDetails(empty, 'integrations'),
      'invites-empty': ofDetails(crowded, 'invites'),
      'about-member': { ...ofDetails(engine, 'about'), as: 'grace@example.org' },
      'about-direct': ofDetails(places.direct, 'about'),
      'details-loading': {
        ...ofDetails(engine, 'people'),
        sign: '.details .outline',
        act: none,
        state: { held: HELD },
      },
      'details-failed': { ...ofDetails(engine, 'pins'), sign: '.details', act: none, state: { failed: /\/pins/ } },
    },
    search: {
      search: { at: '/search?q=card', sign: '.found mark' },
      'search-chips': { at: `/search?q=card&in=${crowded}&from=@grace`, sign: '.found mark' },
      'search-empty': { at: '/search', sign: '.settings input, .search input' },
      'search-nothing': { at: '/search?q=zeppelin', sign: 'p:has-text("zeppelin")' },
      'search-loading': { at: '/search?q=card', sign: '.outline', state: { held: HELD } },
      'search-failed': { at: '/search?q=card', sign: '.error', state: { failed: /\/api\/search/ } },
    },
    account: {
      profile: { at: '/account/profile', sign: '.sheet [name=display_name]' },
      security: { at: '/account/security', sign: '.sheet .items li' },
      keys: { at: '/account/keys', sign: '.sheet .items li' },
      'keys-empty': { at: '/account/keys', sign: '.sheet p', as: 'grace@example.org' },
      'keys-failed': { at: '/account/keys', sign: '.sheet .error', state: { failed: /auth\/keys/ } },
      bots: { at: '/account/bots', sign: '.sheet .items li' },
      bot: { at: `/account/bots/${places.bot_id}`, sign: '.sheet .items li' },
      'bots-empty': { at: '/account/bots', sign: '.sheet p', as: 'grace@example.org' },
      'bots-failed': { at: '/account/bots', sign: '.sheet .error', state: { failed: /api\/bots/ } },
      webhooks: { at: '/account/webhooks', sign: '.sheet .items li' },
      webhook: { at: `/account/webhooks/${places.webhook_id}`, sign: '.sheet .identity' },
      'webhooks-empty': { at: '/account/webhooks', sign: '.sheet p', as: 'grace@example.org' },
      'webhooks-failed': { at: '/account/webhooks', sign: '.sheet .error', state: { failed: /api\/webhooks/ } },
      preferences: { at: '/account/preferences', sign: '.sheet select' },
    },
    administration: {
      users: { at: '/administration/users', sign: '.users li' },
      user: { at: `/administration/users/${places.grace_id}`, sign: '.identity' },
      'service-invites': { at: '/administration/invites', sign: '.sheet' },
      limits: { at: '/administration/limits', sign: '.sheet:has-text("Sign-ins of the last 24 hours")' },
      'all-webhooks': { at: '/administration/webhooks', sign: '.items li' },
      audit: { at: '/administration/audit', sign: '.audit li' },
      service: { at: '/administration/service', sign: '.items li' },
      forbidden: { at: '/administration/users', sign: '.settings p', as: 'grace@example.org' },
    },
    join: {
      join: { at: `/join/${places.invite}`, sign: 'input[name=email]', as: null },
      'join-signed-in': { at: `/join/${places.invite}`, sign: 'button.primary', as: 'new@example.org' },
      'join-revoked': { at: `/join/${places.used}`, sign: '[role=alert]', as: null },
    },
    welcome: { welcome: { at: `/welcome/${places.welcome}`, sign: 'input[name=password]', as: null } },
    reset: {
      reset: { at: `/reset/${places.reset}`, sign: 'input[name=password]', as: null },
      'reset-cut': { at: '/reset/a', sign: '[role=alert]', as: null },
    },
    verify: { verify: { at: `/verify/${TOKEN}`, sign: '[role=alert]', as: null } },
    'change-email': { 'change-email': { at: `/change-email/${TOKEN}`, sign: '[role=alert]', as: null } },
    undo: { undo: { at: `/undo/${TOKEN}`, sign: '[role=alert]', as: null } },
    'signed-out': {
      'sign-in': { at: '/', sign: 'input[name=password]', as: null },
      forgotten: {
        at: '/',
        sign: 'input[name=password]',
        act: click('button:has-text("Forgot")', 'h1:has-text("password")'),
        as: null,
      },
    },
    // What lies over a screen.
    over: {
      switcher: {
        ...room(engine),
        act: async (page) => {
          await page.press('body', 'Control+k')
          await page.waitForSelector('dialog [role=option]')
        },
      },
      'key-sheet': {
        ...room(engine),
        act: async (page) => {
          await page.press('body', 'Control+/')
          await page.waitForSelector('.key-sheet')
        },
      },
      emoji: { ...room(engine), act: click('.conversation footer [aria-label="Emoji"]', '.emoji-picker button') },
      lightbox: { ...room(hostile), act: click('.message .picture', 'dialog img') },
      profile: { ...room(engine), act: click('.message .author', 'dialog') },
      'new-room': { at: '/', sign: '.conversations a', act: click('[aria-label="New room"]', 'dialog input') },
      'account-menu': {
        at: '/',
        sign: '.conversations a',
        act: click('.sidebar > header .menu > button', '.sidebar > header .panel'),
      },
      'row-menu': {
        at: '/',
        sign: '.conversations a',
        act: async (page) => {
          await page.hover('.conversations > [data-row] >> nth=2')
          await page.click('.conversations > [data-row] >> nth=2 >> .row-menu button')
          await page.waitForSelector('.conversations .panel, dialog .panel')
        },
      },
      'message-menu': {
        ...room(engine),
        act: async (page) => {
          await page.hover('.message:has-text("Does the engine")')
          await page.click('.message:has-text("Does the engine") .actions > .menu > button')
          await page.waitForSelector('.message .panel')
        },
      },
      formatting: {
        ...room(engine),
        act: click('.conversation .composer [aria-label="Formatting"]', '[role=toolbar]'),
      },
    },
  }
}

const none = async () => {}
