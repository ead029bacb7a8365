/** The texts in English of what is beside a room: its details, its first invites and threads. They are loaded with these. */
export const texts = {
  row: {
    more: 'More',
    read: 'Mark read',
    mute: 'Mute',
    unmute: 'Unmute',
    mutes: { hour: '1 hour', workday: '8 hours', tomorrow: 'Until tomorrow', always: 'Always' } as Record<
      string,
      string
    >,
    favourite: 'Add to favourites',
    unfavourite: 'Remove from favourites',
  },
  details: {
    title: 'Details',
    tabs: {
      about: 'About',
      people: 'People',
      pins: 'Pins',
      files: 'Files',
      notifications: 'Notifications',
      invites: 'Invite links',
    },
    saved: 'Saved.',
    name: 'Name',
    topic: 'Topic',
    icon: 'Icon',
    icon_hint: 'An emoji (optional)',
    layout: 'Layout',
    layouts: { stream: 'Stream', topics: 'Topics', assistant: 'Assistant' },
    no_files: 'No files yet. Files in messages appear here.',
    policy: 'For everyone',
    mention_all: 'Who may mention everyone',
    mention_alls: {
      everyone: 'Everybody',
      members: 'All members',
      moderators: 'Moderators and admins',
      admins: 'Owners and admins',
      owners: 'Owners',
      nobody: 'Nobody',
    },
    policy_receipts: 'Show who has read a message',
  },
  people: {
    add: 'Add a person',
    add_hint: 'Name or e-mail',
    add_button: 'Add',
    remove: (name: string) => `Remove ${name}`,
    remove_title: (name: string) => `Remove ${name}?`,
    remove_text: 'What this person has written stays.',
    remove_button: 'Remove',
    role_of: (name: string) => `Role of ${name}`,
  },
  pins: {
    empty: 'No pins yet. Pin a message from its menu.',
    by: (name: string) => `Pinned by ${name}`,
  },
  settings: {
    level: 'What comes into your inbox',
    levels: { all: 'Everything', mentions: 'Mentions and replies', none: 'Nothing' },
    mute: 'Mute',
    mutes: { off: 'Not muted', hour: 'For an hour', workday: 'For 8 hours', week: 'For a week', forever: 'For ever' },
    until: (time: string) => `Until ${time}`,
    receipts: 'Others see what I have read here',
  },
  ending: {
    archive: 'Archive',
    unarchive: 'Unarchive',
    leave: 'Leave',
    leave_title: 'Leave this room?',
    leave_text: 'You no longer see it. What you have written stays.',
    remove: 'Delete',
    remove_title: 'Delete this room?',
    remove_text: 'It is deleted for everyone, with all that is in it. This cannot be undone.',
  },
  pictures: {
    show: (name: string) => `Show ${name}`,
    more: (count: number) => (count === 1 ? '1 more picture' : `${count} more pictures`),
    place: (at: number, count: number) => `${at} of ${count}`,
    previous: 'Previous picture',
    next: 'Next picture',
    zoom: 'Zoom',
    download: 'Download',
  },
  greeting: {
    title: (room: string) => `Welcome to ${room}`,
    text: 'Write the first message, or invite others.',
    try: 'Try asking:',
    question: 'What can you help us with?',
  },
  invites: {
    text: (people: number, days: number) =>
      people === 1
        ? `1 person can join with it, for ${days} days.`
        : `${people} people can join with it, for ${days} days.`,
    copy: 'Copy invite link',
    copied: 'The link is copied.',
    link: 'Invite link',
    uses: 'For',
    people: (count: number) => (count === 1 ? '1 person' : `${count} people`),
    none: 'No open invite links.',
    used: (uses: number, max: number) => `${uses} of ${max} joined`,
    for: (email: string) => `for ${email}`,
    until: (time: string) => `until ${time}`,
    revoke: 'Revoke',
    revoked: 'The link no longer works.',
  },
  search: {
    title: 'Search',
    label: 'Rooms, people and words in messages',
    placeholder: 'Name, words, "a phrase", -without',
    button: 'Search',
    hint: 'Or type filters: in:"Engines" from:@ada from:me on:2026-05-31 has:link',
    in: 'In',
    messages: 'Messages',
    places: 'Rooms and people',
    without: (filter: string) => `Search without: ${filter}`,
    since: (day: string) => `Since ${day}`,
    until: (day: string) => `Before ${day}`,
    narrow: 'Narrow the search',
    anywhere: 'Anywhere',
    from: 'From',
    anyone: 'Anyone',
    me: 'Me',
    has: 'With',
    anything: 'Anything',
    having: { file: 'a file', link: 'a link', mention: 'a mention', reaction: 'a reaction', pin: 'a pin' },
    after: 'From this day on',
    before: 'Before this day',
    question: 'Question:',
    searching: 'Searching…',
    not_filters: (texts: readonly string[]) => `Searched as words, as they name nothing: ${texts.join(' ')}`,
    incomplete: 'Older messages are still being prepared for the search, and are not found yet.',
    found: (count: number, hasMore: boolean, query: string) =>
      count === 0
        ? hasMore
          ? 'Nothing yet; there is more to search.'
          : query
            ? `No matches for “${query}”.`
            : 'No matches.'
        : count === 1
          ? '1 message'
          : hasMore
            ? `The latest ${count} messages`
            : `${count} messages`,
    more: 'Search on',
  },
  thread: {
    messages: 'Messages in the thread',
    follow: 'Follow',
    unfollow: 'Unfollow',
    mark_unread: 'Mark unread',
    copy_link: 'Copy link',
    as_tree: 'As a tree',
    title: 'Title',
    edit_title: 'Edit title',
    first_unread: 'To the first unread message',
    unread_from: 'Unread from here',
    collapse: (count: number) => (count === 1 ? 'Hide 1 reply' : `Hide ${count} replies`),
    branch: (count: number, unread: number) =>
      `${count === 1 ? '1 reply' : `${count} replies`}${unread > 0 ? `, ${unread} new` : ''}`,
  },
}
