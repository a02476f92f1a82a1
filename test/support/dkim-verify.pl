#!/usr/bin/perl
# A second opinion on DKIM signatures, by an implementation that shares no code with ours.
#   dkim-verify.pl KEYS MESSAGE...
# KEYS is a file of lines "<selector>._domainkey.<domain> <record>"; DNS is never asked.
# For each message one line comes out: its overall result, then one result per signature,
# in the order of the message, parted by tabs. Exit 3 means that Mail::DKIM is not there.
use strict;
use warnings;

unless (eval { require Mail::DKIM::Verifier; require Mail::DKIM::DNS; require Net::DNS; 1 }) {
    print "Mail::DKIM is not installed (Debian: libmail-dkim-perl)\n";
    exit 3;
}

my ($key_file, @messages) = @ARGV;
die "usage: dkim-verify.pl KEYS MESSAGE...\n" unless @messages;

my %records;
open my $keys, '<', $key_file or die "$key_file: $!\n";
while (my $line = <$keys>) {
    chomp $line;
    my ($name, $record) = split / /, $line, 2;
    $records{lc $name} = $record;
}
close $keys;

{
    no warnings qw(redefine once);
    *Mail::DKIM::DNS::query = sub {
        my ($name, $type) = @_;
        my $record = $type eq 'TXT' ? $records{lc $name} : undef;
        $@ = 'NXDOMAIN';
        return unless defined $record;
        # A character-string of a TXT record holds 255 octets at most.
        my @strings = unpack '(A255)*', $record;
        return Net::DNS::RR->new(owner => $name, type => 'TXT', txtdata => \@strings);
    };
}

for my $file (@messages) {
    open my $message, '<:raw', $file or die "$file: $!\n";
    my $verifier = Mail::DKIM::Verifier->new;
    $verifier->load($message);
    close $message;
    my @details = map { $_->result_detail } $verifier->signatures;
    print join("\t", $verifier->result, @details), "\n";
}
