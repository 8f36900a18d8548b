import t from 'tap'
import { groupKeyOf, parseFlagRequest } from '../../src/flags/flag-request.ts'

t.test('every field has the names that SDKs have given it', async (t) => {
  const one = parseFlagRequest({
    api_key: 'phc_1',
    distinct_id: 'u',
    $anon_distinct_id: 'a',
    $device_id: 'd',
    groups: { company: 'acme' },
    person_properties: { plan: 'pro' },
    group_properties: { company: { size: 3 } },
    geoip_disable: true,
    disable_flags: true,
    flag_keys_to_evaluate: ['f'],
    evaluation_contexts: ['web'],
    evaluation_runtime: 'server',
    project_id: 1,
  })
  const other = parseFlagRequest({
    $token: 'phc_1',
    $distinct_id: 'u',
    anon_distinct_id: 'a',
    device_id: 'd',
    $groups: { company: 'acme' },
    $properties: { plan: 'pro' },
    $group_properties: { company: { size: 3 } },
    geoip_disable: true,
    disable_flags: true,
    flag_keys: ['f'],
    evaluation_environments: ['web'],
    evaluation_runtime: 'server',
    project_id: 1,
  })
  t.same(one, other)
  t.match(one, { apiKey: 'phc_1', distinctId: 'u', anonDistinctId: 'a', deviceId: 'd', hasProjectId: true })
  t.same([...one.flagKeys!], ['f'])
  t.equal(groupKeyOf(one, 'company'), 'acme')
})

t.test('null and what is of the wrong type are as good as absent', async (t) => {
  const nothing = {
    apiKey: null,
    distinctId: null,
    anonDistinctId: '',
    deviceId: '',
    groups: {},
    personProperties: null,
    groupProperties: {},
    isGeoipDisabled: false,
    areFlagsDisabled: false,
    flagKeys: null,
    contexts: null,
    runtime: null,
    hasProjectId: false,
  }
  const names = Object.keys({
    token: 0,
    distinct_id: 0,
    $anon_distinct_id: 0,
    $device_id: 0,
    groups: 0,
    person_properties: 0,
    group_properties: 0,
    geoip_disable: 0,
    disable_flags: 0,
    flag_keys: 0,
    evaluation_contexts: 0,
    evaluation_runtime: 0,
    project_id: 0,
  })
  t.same(parseFlagRequest({}), nothing)
  t.same(parseFlagRequest(Object.fromEntries(names.map((name) => [name, null]))), nothing)
  const odd = parseFlagRequest(Object.fromEntries(names.map((name) => [name, true])))
  t.same(odd, { ...nothing, isGeoipDisabled: true, areFlagsDisabled: true, hasProjectId: true })
  t.same(parseFlagRequest(JSON.parse('{"__proto__":{"token":"x","distinct_id":"y"}}')), nothing)
})

t.test('ids are cut to characters, not in the middle of one, and hold no NUL', async (t) => {
  const idOf = (distinct_id: unknown) => parseFlagRequest({ distinct_id }).distinctId
  t.equal(idOf('x'.repeat(201)), 'x'.repeat(200))
  t.equal(idOf('🦔'.repeat(300)), '🦔'.repeat(200))
  t.equal(idOf(`${'x'.repeat(199)}🦔x`), `${'x'.repeat(199)}🦔`)
  t.equal(idOf('a\0b'), 'a\ufffdb')
  t.equal(idOf(12), '12')
  t.equal(idOf(1.5), '1.5')
})

t.test('a group key is as long as capture stores it, and only of the type asked for', async (t) => {
  const request = parseFlagRequest({ groups: { a: 'k'.repeat(401), b: 7, c: null, d: {} } })
  t.equal(groupKeyOf(request, 'a').length, 400)
  t.equal(groupKeyOf(request, 'b'), '7')
  for (const type of ['c', 'd', 'constructor', '__proto__']) t.equal(groupKeyOf(request, type), '', type)
})

t.test('what the person was may stand among their properties', async (t) => {
  t.equal(parseFlagRequest({ person_properties: { $anon_distinct_id: 'a' } }).anonDistinctId, 'a')
})
