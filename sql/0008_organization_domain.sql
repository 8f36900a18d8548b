-- Domains that an organization says are its own, and what it has proved by a record in their DNS.

create table organization_domain (
  id uuid primary key,
  organization_id uuid not null references organization on delete cascade,
  -- In lower case. One organization at most has a domain.
  domain text not null unique,
  -- What the TXT record at _posthog-challenge.<domain> must say.
  verification_challenge text not null,
  verified_at timestamptz,
  -- The last look-up that found no proof.
  last_verification_retry timestamptz,
  jit_provisioning_enabled boolean not null default false,
  sso_enforcement text not null default '',
  saml_entity_id text,
  saml_acs_url text,
  -- Sealed with a secret key (src/sealing/).
  saml_x509_cert text,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index organization_domain_organization on organization_domain (organization_id);
comment on table organization_domain is
  'Domains of an organization and their SAML settings. Written by management (domains); sealed anew by spate reseal.';

select build_wall('organization_domain');
